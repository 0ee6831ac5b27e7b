package operate

import (
	"cmp"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

func newConfig(a *terminal.App) *cobra.Command {
	c := &cobra.Command{
		Use: "config", Short: "Show, check and change the settings", Args: terminal.NoSuchCommand, RunE: terminal.ShowHelp,
		Long: "Settings are read from config.toml in CMEMD_HOME, and from variables CMEMD_KEY, which win. The daemon reads them when it starts.",
	}
	c.AddCommand(
		&cobra.Command{
			Use: "show", Short: "Show every setting, its value and where that comes from", Args: terminal.Takes(0, 0, ""),
			RunE: func(*cobra.Command, []string) error { return showConfig(a) },
		},
		&cobra.Command{
			Use: "check", Short: "Check the settings; exit code 1 if one cannot be used", Args: terminal.Takes(0, 0, ""),
			RunE: func(*cobra.Command, []string) error { return checkConfig(a) },
		},
		&cobra.Command{
			Use: "path", Short: "Show where the settings are read from", Args: terminal.Takes(0, 0, ""),
			RunE: func(*cobra.Command, []string) error { return showConfigPath(a) },
		},
		newConfigSet(a), newConfigUnset(a),
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
func showConfig(a *terminal.App) error {
	l, bad := config.ForHome(a)
	if l == nil {
		return bad
	}
	var shown []shownSetting
	for _, s := range l.Settings() {
		shown = append(shown, shownSetting{
			Key: s.Key, Value: s.Get(), Source: l.From[s.Key], Default: s.Standard, Limits: s.Limits, Env: s.Env(), Doc: s.Doc,
		})
	}
	l.TellUnheeded(a)
	return errors.Join(bad, a.Show(shown, func() { printSettings(a, shown) }))
}

func printSettings(a *terminal.App, shown []shownSetting) {
	t := terminal.List{Head: []string{"KEY", "VALUE", "SOURCE", "MAY BE", "MEANS"}}
	for _, s := range shown {
		t.Add(s.Key, cmp.Or(s.Value, `""`), s.Source, s.Limits, s.Doc)
	}
	a.Print(t)
}

func checkConfig(a *terminal.App) error {
	l, err := config.ForHome(a)
	if err != nil {
		return err
	}
	ps, err := config.LoadPrices(l.Home)
	if err != nil {
		return err
	}
	if err := l.CheckPrices(ps); err != nil {
		return err
	}
	l.TellUnheeded(a)
	return a.Tell(map[string]bool{"ok": true}, "the settings are good\n")
}

// showConfigPath says where the file of settings is, whether it is there or not.
func showConfigPath(a *terminal.App) error {
	home, err := a.Home()
	if err != nil {
		return err
	}
	path := filepath.Join(home, config.FileName)
	return a.Tell(map[string]string{"path": path}, "%s\n", terminal.VisibleLine(path))
}
