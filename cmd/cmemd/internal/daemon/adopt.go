package daemon

import (
	"context"
	"os"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/relay"
)

// adoptVariables tells whoever starts a daemon which variables of this environment do not count any more. Where none has been started
// that takes its settings from the file alone, and a person is there to ask, what they say is written into it after a yes. It returns
// the settings in force then.
func adoptVariables(ctx context.Context, a *terminal.App, p homedir.Paths, l *config.Loaded) (*config.Loaded, error) {
	_, written := relay.ReadVariables(p.Home)
	if written || a.JSON || !terminal.IsTerminal(a.In) {
		l.TellUnheeded(a)
		return l, nil
	}
	if recorded, err := relay.ReadPrograms(p.Home); err == nil && recorded == (relay.Programs{}) {
		if self, err := os.Executable(); err == nil {
			err = homedir.RecordPrograms(p.Home, self)
			if err != nil {
				return l, err
			}
		}
	}
	return askToAdopt(ctx, a, p, l)
}

// askToAdopt is adoptVariables where there is somebody to ask.
func askToAdopt(ctx context.Context, a *terminal.App, p homedir.Paths, l *config.Loaded) (*config.Loaded, error) {
	changes, refused := l.Adopt(l.UnheededOf(a.Environ), a.Environ)
	for _, err := range refused {
		a.Say("not taken over: %s", terminal.VisibleLine(err.Error()))
	}
	if len(changes) == 0 {
		return config.ForHome(a)
	}
	a.Say("the daemon takes its settings from %s alone from now on; variables of this environment set", config.FileName)
	for _, ch := range changes {
		a.Say("  %s = %s", ch.Key, terminal.VisibleLine(*ch.Value))
	}
	ok, err := a.Confirm("Write this into "+config.FileName+"?", "written", false, false)
	if err != nil {
		return l, err
	}
	if ok {
		if _, err := config.WriteChanges(ctx, a, p.Home, changes); err != nil {
			return l, err
		}
	}
	return config.ForHome(a)
}
