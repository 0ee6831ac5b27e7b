package scenarios

import (
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/replay"
)

// typesInForce is config.TypesInForce of this home. Of a mode that cannot be read any more it says so.
func typesInForce(a *terminal.App) (replay.TypesOf, error) {
	home, err := a.Home()
	if err != nil {
		return nil, err
	}
	return config.TypesInForce(home, func(err error) {
		a.Infof("some outputs are of a mode that cannot be read any more; the types of the code mode are taken instead: %s", terminal.VisibleLine(terminal.Describe(err)))
	}), nil
}
