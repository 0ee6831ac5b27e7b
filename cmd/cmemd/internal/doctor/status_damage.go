package doctor

import (
	"errors"
	"fmt"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/refusal"
)

// damageError is damage of the log as an error; nil: none is known.
func damageError(d *api.LogDamage) error {
	if d == nil {
		return nil
	}
	return terminal.Advise(errors.New(refusal.DamagedAt(d.Position)), "%s", terminal.SalvageStep)
}

// showDamage says what is known of damage of the log.
func showDamage(a *terminal.App, d *api.LogDamage) {
	if d != nil {
		a.Field("", fmt.Sprintf("%s (met at %s: %s)", refusal.DamagedAt(d.Position), terminal.Moment(d.At), d.Reason))
	}
}
