package operate

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/durable"
)

const anewHelp = `A daemon does not start where the log is gone or empty, and what was made from it is still there: the log may be on its way
back, and the views are the last copy of what was remembered. Begin-anew says what there is, asks, and then lays out an empty log; also
where the file is no log, or one that does not open any more (try ` + "`cmemd log salvage --in-place`" + ` first). That file and the old views are kept under another name, which ` + "`cmemd status`" + ` lists until somebody removes them.`

func newLogAnew(a *terminal.App) *cobra.Command {
	yes, dryRun := false, false
	c := &cobra.Command{
		Use: "begin-anew", Short: "Begin with an empty log where the log was lost", Args: terminal.Takes(0, 0, ""), Long: anewHelp,
		RunE: func(c *cobra.Command, _ []string) error { return beginAnew(c.Context(), a, dryRun, yes) },
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only show what would be done")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// beginAnewReport is what `cmemd log begin-anew` says.
type beginAnewReport struct {
	Begun bool     `json:"begun"`
	Log   string   `json:"log"`
	Aside []string `json:"aside"` // kept under these names; before the begin: what will be
}

func beginAnew(ctx context.Context, a *terminal.App, dryRun, yes bool) error {
	p, err := homedir.Of(a)
	if err != nil {
		return err
	}
	lost, unusable, err := lossOf(p)
	if err != nil {
		return err
	}
	out := beginAnewReport{Log: p.Log, Aside: p.ToSetAside()}
	if unusable {
		out.Aside = append(out.Aside, p.Log)
	}
	a.Infof("%s", terminal.Describe(lost))
	for _, path := range out.Aside {
		a.Infof("  %s is kept under another name", terminal.VisibleLine(path))
	}
	ok, err := a.Confirm(ctx, "Begin with an empty log?", "changed", dryRun, yes)
	if err != nil || !ok {
		return errors.Join(err, a.Show(out, func() {}))
	}
	if out.Aside, err = layOutAnew(a, p); err != nil {
		return err
	}
	out.Begun = true
	return a.Show(out, func() {
		for _, kept := range out.Aside {
			a.Printf("kept %s\n", terminal.VisibleLine(kept))
		}
		a.Printf("the log is empty: %s\n", terminal.VisibleLine(p.Log))
	})
}

// lossOf is how the log of a home was lost, and whether a file stands in its place that cannot be used. The error says why there is nothing
// to begin anew.
func lossOf(p homedir.Paths) (lost error, unusable bool, err error) {
	if lost = unusableLog(p.Log); lost != nil {
		return lost, true, nil
	}
	switch lost = p.CheckLog(); {
	case errors.Is(lost, homedir.ErrLogAway):
		return nil, false, lost
	case lost == nil:
		return nil, false, terminal.Advise(errors.New("no log was lost here: nothing was done"), "`cmemd status` says how the daemon is doing")
	}
	return lost, false, nil
}

// unusableLog is why the file in a log's place is none that can be opened: another thing, or damaged so that nothing of it is to be had
// without a salvage. nil: it is one, there is no file, or who has it does not let it be looked at.
func unusableLog(path string) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil
	}
	log, err := eventlog.OpenReadOnly(path, eventlog.Config{})
	switch {
	case err == nil:
		return log.Close()
	case errors.Is(err, eventlog.ErrNotLog), errors.Is(err, events.ErrCorrupt):
		return err
	}
	return nil
}

// layOutAnew makes an empty log. Before that it renames the file in the log's place, if it is no usable log; after that, while it holds
// the new log's lock, it renames the files that were made from the lost log. Kept are the new names. If somebody else has begun anew
// or put the log back while the person was asked, it returns the error of lossOf.
func layOutAnew(a *terminal.App, p homedir.Paths) (kept []string, err error) {
	_, unusable, err := lossOf(p)
	if err != nil {
		return nil, err
	}
	if unusable {
		name, err := durable.SetAside(p.Log, a.Now())
		if err != nil {
			return nil, fmt.Errorf("set %s aside: %w", p.Log, err)
		}
		kept = append(kept, name)
	}
	log, err := eventlog.Open(p.Log, config.LogOf(a))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	for _, path := range p.ToSetAside() {
		name, err := durable.SetAside(path, a.Now())
		if err != nil {
			return kept, fmt.Errorf("set %s aside: %w", path, err)
		}
		kept = append(kept, name)
	}
	return kept, nil
}
