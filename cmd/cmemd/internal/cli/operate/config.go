package operate

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

func newConfig(a *terminal.App) *cobra.Command {
	return terminal.Group(&cobra.Command{
		Use: "config", Short: "Show, check and change the settings",
		Long: "Settings are read from config.toml in CMEMD_HOME when the daemon starts; `cmemd serve` by hand takes variables CMEMD_KEY over them.",
	},
		newConfigShow(a),
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
}

func newConfigShow(a *terminal.App) *cobra.Command {
	all := false
	c := &cobra.Command{
		Use: "show [KEY...]", Short: "Show settings, their values and where these come from", Args: terminal.Takes(0, -1, ""),
		SuggestFor:        []string{"get", "list"},
		Long:              "Show lists the settings that people change, and what else is not at its default: --all lists every one, by subject.",
		ValidArgsFunction: completeKey,
		RunE:              func(_ *cobra.Command, keys []string) error { return showConfig(a, keys, all) },
	}
	c.Flags().BoolVar(&all, "all", false, "list every setting")
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
	Group   string `json:"group"`

	common bool
}

// showConfig lists settings in force, those with the given keys if there are any; where some cannot be used it says so too, and fails.
// As JSON all are listed.
func showConfig(a *terminal.App, keys []string, all bool) error {
	for _, key := range keys {
		if _, err := config.SettingNamed(key); err != nil {
			return err
		}
	}
	l, bad := config.ForHome(a)
	if l == nil {
		return bad
	}
	shown := []shownSetting{}
	for _, g := range l.Groups() {
		for _, s := range g.Settings {
			if len(keys) > 0 && !slices.Contains(keys, s.Key) {
				continue
			}
			shown = append(shown, shownSetting{
				Key: s.Key, Value: s.Get(), Source: l.From[s.Key], Default: s.Standard, Limits: s.Limits, Env: s.Env(), Doc: s.Doc, Group: g.Name,
				common: config.IsCommon(s),
			})
		}
	}
	l.TellUnheeded(a)
	return errors.Join(bad, a.Show(shown, func() {
		if all && len(keys) == 0 {
			printSubjects(a, shown)
			return
		}
		printSettings(a, shown, len(keys) > 0)
	}))
}

// printSubjects prints all settings, each subject's below its name.
func printSubjects(a *terminal.App, shown []shownSetting) {
	for rest := shown; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(s shownSetting) bool { return s.Group != rest[0].Group })
		if n < 0 {
			n = len(rest)
		}
		a.Heading("%s", rest[0].Group)
		printSettings(a, rest[:n], true)
		if rest = rest[n:]; len(rest) > 0 {
			a.Printf("\n")
		}
	}
}

// printSettings prints settings as a table; not all: those that people change, and what somebody set.
func printSettings(a *terminal.App, shown []shownSetting, all bool) {
	t := terminal.List{Head: []string{"KEY", "VALUE", "SOURCE", "MAY BE", "MEANS"}}
	left := 0
	for _, s := range shown {
		if !all && !s.common && s.Source == config.FromDefault {
			left++
			continue
		}
		t.Add(s.Key, cmp.Or(s.Value, `""`), s.Source, s.Limits, s.Doc)
	}
	a.Print(t)
	if left > 0 {
		a.Infof("%d more are at their defaults: `cmemd config show --all` lists them", left)
	}
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
	return a.ShowLine(map[string]bool{"ok": true}, "the settings are good\n")
}

// showConfigPath says where the file of settings is, whether it is there or not.
func showConfigPath(a *terminal.App) error {
	home, err := a.Home()
	if err != nil {
		return err
	}
	path := filepath.Join(home, config.FileName)
	return a.ShowLine(map[string]string{"path": path}, "%s\n", terminal.VisibleLine(path))
}
