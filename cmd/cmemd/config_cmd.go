package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func newConfig(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "config", Short: "Show and check the settings", Args: noSuchCommand, RunE: showHelp,
		Long: "Settings are read from config.toml in CMEMD_HOME, and from variables CMEMD_KEY, which win. The daemon reads them when it starts.",
	}
	c.AddCommand(
		&cobra.Command{
			Use: "show", Short: "Show every setting, its value and where that comes from", Args: takes(0, 0, ""),
			RunE: func(*cobra.Command, []string) error { return a.showConfig() },
		},
		&cobra.Command{
			Use: "check", Short: "Check the settings; exit code 1 if one cannot be used", Args: takes(0, 0, ""),
			RunE: func(*cobra.Command, []string) error { return a.checkConfig() },
		},
	)
	return c
}

// A shownSetting is one setting as `config show` prints it.
type shownSetting struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Source  string `json:"source"`
	Default string `json:"default"`
	Limits  string `json:"limits"`
	Env     string `json:"env"`
	Doc     string `json:"doc"`
}

// showConfig lists the settings in force; where some cannot be used it says so too, and fails.
func (a *app) showConfig() error {
	l, bad := a.config()
	if l == nil {
		return bad
	}
	var shown []shownSetting
	for _, s := range settings() {
		shown = append(shown, shownSetting{
			Key: s.key, Value: s.get(&l.config), Source: l.from[s.key], Default: s.standard, Limits: s.limits, Env: s.env(), Doc: s.doc,
		})
	}
	if a.json {
		return errors.Join(bad, a.printJSON(shown))
	}
	t := list{head: []string{"KEY", "VALUE", "SOURCE", "MAY BE", "MEANS"}}
	for _, s := range shown {
		value := s.Value
		if value == "" {
			value = `""`
		}
		t.add(s.Key, value, s.Source, s.Limits, s.Doc)
	}
	return errors.Join(bad, a.print(t))
}

func (a *app) checkConfig() error {
	l, err := a.config()
	if err != nil {
		return err
	}
	if _, err := loadPrices(l.home); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]bool{"ok": true})
	}
	a.printf("the settings are good\n")
	return nil
}

// config reads the settings of this home. Beside an error come those that can be used, if any.
func (a *app) config() (*loaded, error) { return a.configFor("") }

// configFor reads the settings of this home as if they named another provider; "" is the one that they name.
func (a *app) configFor(provider string) (*loaded, error) {
	home, err := a.home()
	if err != nil {
		return nil, err
	}
	environ := a.environ
	if provider != "" {
		variable := envPrefix + "PROVIDER="
		named := func(kv string) bool { return strings.HasPrefix(kv, variable) }
		environ = append(slices.DeleteFunc(slices.Clone(environ), named), variable+provider)
	}
	l, err := loadConfig(home, environ)
	return l, advise(err, "correct %s, or the variable; `cmemd config show` lists the keys", filepath.Join(home, configFile))
}
