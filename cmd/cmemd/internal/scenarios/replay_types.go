package scenarios

import (
	"cmp"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/extractive"
	"github.com/cmemd/cmemd/internal/replay"
)

// typesInForce tells the types that observations could have in each life of a daemon: those of the mode that was set, read
// from this home. Of a mode that is gone, or that cannot be read any more, it says so once, and takes those of the code mode.
func typesInForce(a *terminal.App) (replay.TypesOf, error) {
	home, err := a.Home()
	if err != nil {
		return nil, err
	}
	modes := map[string]observer.Types{}
	code := observer.CodeMode()
	modes[code.ID] = nil // nil is that mode's own
	return func(settings map[string]string, provider string) observer.Types {
		name := cmp.Or(settings["mode"], code.ID)
		types, read := modes[name]
		if read || provider == extractive.Name { // which knows the words of the code mode alone
			return types
		}
		mode, err := (&config.Loaded{Home: home, Config: config.Config{Services: config.Services{Mode: name}}}).LoadMode()
		if err != nil {
			a.Say("some outputs are of a mode that cannot be read any more; the types of the code mode are taken instead: %s", terminal.VisibleLine(terminal.Describe(err)))
		} else {
			types = mode.TypeIDs()
		}
		modes[name] = types
		return types
	}, nil
}
