package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/observer"
)

const observerTestHelp = `Test asks the provider that the settings name, or another one, to observe a small batch that is bundled, once, and shows
what came of it: the size of the prompt, the answer, what it means, the time, the tokens and the cost. It needs no daemon
and records nothing. It ends with 1 if the provider failed or nobody can read its answer.`

func newObserver(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "observer", Short: "Try what observes the sessions, and list what it can record", Args: noSuchCommand, RunE: showHelp,
	}
	provider := ""
	test := &cobra.Command{
		Use: "test", Short: "Ask a provider once; exit code 1 if it fails", Args: takes(0, 0, ""), Long: observerTestHelp,
		Example: "  cmemd observer test --provider claude-cli",
	}
	test.Flags().StringVar(&provider, "provider", "", "ask this one, not the one that is set")
	test.RunE = func(c *cobra.Command, _ []string) error {
		if err := oneOf(c, "provider", provider, providerNames()...); err != nil {
			return err
		}
		return a.testObserver(c.Context(), provider)
	}
	c.AddCommand(test, &cobra.Command{
		Use: "modes", Short: "List the modes and check them; exit code 1 if one cannot be used", Args: takes(0, 0, ""),
		Long: "A mode says what a model records, and in which words. It is chosen by the setting mode. Those that are built in stand\n" +
			"beside the files NAME.toml in the folder modes of CMEMD_HOME, which come first.",
		RunE: func(*cobra.Command, []string) error { return a.showModes() },
	})
	return c
}

// testObserver asks the provider called name, or the one that is set, and shows what came of it.
func (a *app) testObserver(ctx context.Context, name string) error {
	l, err := a.configFor(name)
	if err != nil {
		return err
	}
	if name == "" {
		name = l.Provider
	}
	t, err := a.tryProvider(ctx, l, name)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(t)
	} else {
		a.showTry(t)
	}
	return errors.Join(err, a.told(t.err()))
}

// tryProvider asks a provider once. An error says that there is nobody to ask, or that ctx is done.
func (a *app) tryProvider(ctx context.Context, l *loaded, name string) (*try, error) {
	ps, err := loadPrices(l.home)
	if err != nil {
		return nil, err
	}
	runs, err := os.MkdirTemp("", "cmemd-observer-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(runs)
	t := &try{Provider: name, now: a.now(), prices: ps}
	b := builder{settings: l, runs: runs, asked: t.asked}
	p, err := b.provider(name)
	if err != nil {
		return nil, advise(err, "`cmemd config show` lists the settings, and what they may be")
	}
	t.Mode, t.Model, t.key = p.mode.ID, p.Model(), p.key.String()
	t.ask(ctx, p, l.TurnTimeout)
	return t, errors.Join(ctx.Err(), p.close())
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

func (a *app) showModes() error {
	home, err := a.home()
	if err != nil {
		return err
	}
	l, _ := loadConfig(home, a.environ) // what is wrong with it is for `config check` to say
	var shown []shownMode
	var bad []error
	for _, name := range modeNames(l.modesDir()) {
		m, err := l.lookAt(name)
		shown, bad = append(shown, m), append(bad, err)
	}
	err = advise(errors.Join(bad...), "correct the file")
	if a.json {
		return errors.Join(a.printJSON(shown), err)
	}
	t := list{head: []string{"MODE", "SOURCE", "STATE", "MEANS"}}
	for _, m := range shown {
		state := "ok"
		switch {
		case m.Error != "":
			state = "wrong"
		case m.Chosen:
			state = "chosen"
		}
		t.add(m.Name, m.Source, state, m.Title)
	}
	return errors.Join(a.print(t), err)
}

// lookAt reads one mode.
func (l *loaded) lookAt(name string) (shownMode, error) {
	m := shownMode{Name: name, Source: builtIn, Chosen: name == l.Mode}
	path := filepath.Join(l.modesDir(), name+".toml")
	if _, err := os.Stat(path); err == nil {
		m.Source = path
	}
	mode, err := observer.LoadMode(os.DirFS(l.modesDir()), name)
	if err != nil {
		m.Error = describe(err)
		return m, err
	}
	m.Title, m.Types, m.Concepts = mode.Name, mode.TypeIDs(), mode.ConceptIDs()
	return m, nil
}
