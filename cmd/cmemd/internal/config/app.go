package config

import (
	"path/filepath"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/setting"
)

// ForHome reads the settings of this home, as a daemon that is started has them. Beside an error come those that can be used, if any.
func ForHome(a *terminal.App) (*Loaded, error) { return ForProvider(a, "") }

// ForProvider reads the settings of this home as if they named one provider alone; "" is those that they name.
func ForProvider(a *terminal.App, provider string) (*Loaded, error) {
	home, err := a.Home()
	if err != nil {
		return nil, err
	}
	data, err := readSettingsFile(home)
	l, err := readLines(home, data, err, onlyProvider(provider))
	l.takeEnvironment(a.Environ)
	return l, terminal.Advise(err, "correct %s; `cmemd config show --all` lists the keys", filepath.Join(home, FileName))
}

// ForDaemon reads the settings of this home for the daemon that this process is. One that a hook or a command has started takes
// nothing from its environment, and is given the names of what was left out.
func ForDaemon(a *terminal.App, started bool) (*Loaded, error) {
	if started {
		l, err := ForHome(a)
		if l != nil {
			l.leftOut = strings.FieldsFunc(a.Getenv(relay.LeftOutVar), func(r rune) bool { return r == ',' })
		}
		return l, err
	}
	home, err := a.Home()
	if err != nil {
		return nil, err
	}
	l, err := LoadWithVariables(home, a.Environ)
	return l, terminal.Advise(err, "correct %s, or the variable; `cmemd config show --all` lists the keys", filepath.Join(home, FileName))
}

// onlyProvider is lines by which nobody is to be asked but provider; "" leaves settings as they are.
func onlyProvider(provider string) (lines []configLine) {
	if provider == "" {
		return nil
	}
	for _, set := range [][2]string{
		{"provider", provider}, {"fallbacks", ""}, {"summary_provider", ""}, {"summary_model", ""}, {"trivial_provider", ""},
		{"trivial_model", ""},
	} {
		lines = append(lines, configLine{where: "--provider", key: set[0], name: set[0], value: set[1], kind: setting.KindText, untyped: true})
	}
	return lines
}
