package daemon

import (
	"context"
	"os"
	"path/filepath"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/durable"
)

// adoptVariables tells whoever starts a daemon which variables of this environment do not count any more. Where a person is there to ask
// and none was asked before, what they say is written into the file after a yes, though a hook may have started daemons without them.
// It returns the settings in force then.
func adoptVariables(ctx context.Context, a *terminal.App, p homedir.Paths, l *config.Loaded) (*config.Loaded, error) {
	if wasAsked(p.Home) || a.JSON || !terminal.IsTerminal(a.In) {
		l.TellUnheeded(a)
		return l, nil
	}
	if recorded, err := relay.ReadPrograms(p.Home); err == nil && recorded.Path == "" {
		if self, err := os.Executable(); err == nil {
			err = homedir.RecordPrograms(p.Home, self)
			if err != nil {
				return l, err
			}
		}
	}
	return askToAdopt(ctx, a, p, l)
}

// askedFile is there once a person was asked whether variables become settings, whatever they said.
const askedFile = "variables.asked"

func wasAsked(home string) bool {
	_, err := os.Stat(filepath.Join(home, askedFile))
	return err == nil
}

// askToAdopt is adoptVariables where there is somebody to ask.
func askToAdopt(ctx context.Context, a *terminal.App, p homedir.Paths, l *config.Loaded) (*config.Loaded, error) {
	changes, refused := l.Adopt(l.UnheededOf(a.Environ), a.Environ)
	for _, err := range refused {
		a.Infof("not taken over: %s", terminal.VisibleLine(err.Error()))
	}
	if len(changes) == 0 {
		return config.ForHome(a)
	}
	a.Infof("the daemon takes its settings from %s alone from now on; variables of this environment set", config.FileName)
	for _, ch := range changes {
		a.Infof("  %s = %s", ch.Key, terminal.VisibleLine(*ch.Value))
	}
	ok, err := a.Confirm(ctx, "Write this into "+config.FileName+"?", "written", false, false)
	if err != nil {
		return l, err
	}
	if err := durable.Swap(filepath.Join(p.Home, askedFile), nil, homedir.OwnFile); err != nil {
		return l, err
	}
	if ok {
		if _, err := config.WriteChanges(ctx, a, p.Home, changes); err != nil {
			return l, err
		}
	}
	return config.ForHome(a)
}
