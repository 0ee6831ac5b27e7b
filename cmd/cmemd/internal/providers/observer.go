package providers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/setting"
)

const observerTestHelp = `Test asks each provider that the settings name, or one of them or another one, to observe a small batch that is bundled,
once, and shows what came of it: the size of the prompt, the answer, what it means, the time, the tokens and the cost; of
several providers a line each. It needs no daemon and records nothing: what it costs is shown here alone, neither
` + "`cmemd usage`" + ` nor a budget counts it. It ends with 1 if a provider failed or nobody can read its answer.`

func NewObserver(a *terminal.App) *cobra.Command {
	provider := ""
	test := &cobra.Command{
		Use: "test", Short: "Ask each provider once; exit code 1 if one fails", Args: terminal.Takes(0, 0, ""), Long: observerTestHelp,
		Example: "  cmemd observer test\n  cmemd observer test --provider claude-cli",
	}
	test.Flags().StringVar(&provider, "provider", "", "ask this one alone, which the settings need not name")
	terminal.OneOf(test, "provider", setting.ProviderNames()...)
	test.RunE = func(c *cobra.Command, _ []string) error { return testObservers(c.Context(), a, provider) }
	return terminal.Group(&cobra.Command{
		Use: "observer", Short: "Try and compare what observes the sessions, and list what it can record",
	}, test, newCompare(a), &cobra.Command{
		Use: "modes", Short: "List the modes and check them; exit code 1 if one cannot be used", Args: terminal.Takes(0, 0, ""),
		Long: "A mode says what a model records, and in which words. It is chosen by the setting mode. Those that are built in stand\n" +
			"beside the files NAME.toml in the folder modes of CMEMD_HOME, which come first.",
		RunE: func(*cobra.Command, []string) error { return showModes(a) },
	})
}

// trialResults is what came of asking several.
type trialResults struct {
	OK    bool     `json:"ok"`
	Tried []*trial `json:"tried"`
}

// testObservers asks the provider called name, or with "" everybody whom the settings name, and shows what came of it.
func testObservers(ctx context.Context, a *terminal.App, name string) error {
	l, all, err := chosen(a, name)
	if err != nil {
		return err
	}
	out := trialResults{OK: true}
	var failed []error
	for _, who := range all {
		t, err := Try(ctx, a, l, who)
		if err != nil {
			return err
		}
		out.Tried = append(out.Tried, t)
		if err := t.Err(); err != nil {
			out.OK = false
			failed = append(failed, err)
		}
	}
	return a.Report(out, func(a *terminal.App) error {
		if len(all) == 1 {
			showTry(a, out.Tried[0])
		} else {
			showTries(a, out.Tried)
		}
		return onlyOrCount(failed)
	})
}

// onlyOrCount returns the error where there is one alone, else an error that says how many there are.
func onlyOrCount(all []error) error {
	if len(all) < 2 {
		return errors.Join(all...)
	}
	return terminal.Advise(fmt.Errorf("%d providers failed", len(all)), "`cmemd observer test --provider NAME` says more of one")
}

// chosen is who the name means, with the settings by which they are asked: those of that name whom the settings name, or a
// provider that they do not; with "" it is all of them.
func chosen(a *terminal.App, name string) (l *config.Loaded, all []setting.Asked, err error) {
	l, err = config.ForProvider(a, "")
	if err == nil {
		all = slices.DeleteFunc(l.Configured(), func(who setting.Asked) bool { return name != "" && who.Name != name })
	}
	if name == "" || len(all) > 0 {
		return l, all, err
	}
	l, err = config.ForProvider(a, name)
	return l, []setting.Asked{{Name: name}}, err
}

// A shownMode is one mode as `observer modes` lists it.
type shownMode struct {
	Name     string   `json:"name"`
	Source   string   `json:"source"` // a file, or builtIn
	Title    string   `json:"title,omitempty"`
	Types    []string `json:"types,omitempty"`
	Concepts []string `json:"concepts,omitempty"`
	Chosen   bool     `json:"chosen"`
	Error    string   `json:"error,omitempty"`
}

const builtIn = "built in"

func showModes(a *terminal.App) error {
	home, err := a.Home()
	if err != nil {
		return err
	}
	l, _ := config.Load(home, a.Environ) // what is wrong with it is for `config check` to say
	var shown []shownMode
	var bad []error
	for _, name := range config.ModeNames(l.ModesDir()) {
		m, err := shownModeOf(l, name)
		shown, bad = append(shown, m), append(bad, err)
	}
	err = terminal.Advise(errors.Join(bad...), "correct the file")
	return errors.Join(a.Show(shown, func() { printModes(a, shown) }), err)
}

func printModes(a *terminal.App, shown []shownMode) {
	t := terminal.List{Head: []string{"MODE", "SOURCE", "STATE", "MEANS"}}
	for _, m := range shown {
		state := "ok"
		switch {
		case m.Error != "":
			state = "wrong"
		case m.Chosen:
			state = "chosen"
		}
		t.Add(m.Name, m.Source, state, m.Title)
	}
	a.Print(t)
}

// shownModeOf reads one mode.
func shownModeOf(l *config.Loaded, name string) (shownMode, error) {
	m := shownMode{Name: name, Source: builtIn, Chosen: name == l.Mode}
	path := filepath.Join(l.ModesDir(), name+".toml")
	if _, err := os.Stat(path); err == nil {
		m.Source = path
	}
	mode, err := observer.LoadMode(os.DirFS(l.ModesDir()), name)
	if err != nil {
		m.Error = terminal.Describe(err)
		return m, err
	}
	m.Title, m.Types, m.Concepts = mode.Name, mode.TypeIDs(), mode.ConceptIDs()
	return m, nil
}
