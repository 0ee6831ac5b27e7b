package config

import (
	"context"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// Write makes changes in the settings of this home, all or none, and returns what came of them. Those of others at the same time stay.
func Write(ctx context.Context, a *terminal.App, changes []Change) (p ChangePlan, err error) {
	home, err := a.Home()
	if err != nil {
		return p, err
	}
	if _, err := PlanChanges(a, home, changes); err != nil { // before there is a home, or anything in it
		return p, err
	}
	if _, err := homedir.Made(a); err != nil {
		return p, err
	}
	return WriteChanges(ctx, a, home, changes)
}
