package operate

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/number"
)

const spoolHelp = `Hooks keep in the spool what they report while no daemon answers, and the daemon takes it. What it could not take, because a session's
part of the log is damaged or a payload is not what an agent sends, is set aside in spool/bad, each with its reason.

Spool lists what was set aside. Retry brings all of it back among what waits, as after ` + "`cmemd log salvage`" + `: what still cannot be taken is
set aside again, and nothing is recorded twice.`

func newSpool(a *terminal.App) *cobra.Command {
	return terminal.Group(&cobra.Command{
		Use: "spool", Short: "List what the daemon could not take, and have it try again", Long: spoolHelp,
		RunE: func(*cobra.Command, []string) error { return listSpool(a) },
	}, &cobra.Command{
		Use: "retry", Short: "Bring back what was set aside, for the daemon to take", Args: terminal.Takes(0, 0, ""),
		RunE: func(*cobra.Command, []string) error { return retrySpool(a) },
	})
}

// A spoolReport is what `cmemd spool` says.
type spoolReport struct {
	Waiting     int                `json:"waiting"`
	Bytes       int64              `json:"bytes"`
	DeadLetters []spool.DeadLetter `json:"set_aside"`
}

func listSpool(a *terminal.App) error {
	p, err := homedir.Of(a)
	if err != nil {
		return err
	}
	var s spoolReport
	kept := spool.New(p.Home)
	if s.Waiting, s.Bytes, err = kept.Usage(); err != nil {
		return err
	}
	if s.DeadLetters, err = kept.DeadLetters(); err != nil {
		return err
	}
	return a.Show(s, func() {
		a.Printf("%s waiting (%s), %d set aside\n", number.Plural(s.Waiting, "payload"), terminal.Size(s.Bytes), len(s.DeadLetters))
		l := terminal.List{Head: []string{"SET ASIDE", "REASON"}}
		for _, one := range s.DeadLetters {
			l.Add(one.Name, one.Reason)
		}
		if len(s.DeadLetters) > 0 {
			a.Print(l)
			a.Infof("`cmemd spool retry` has the daemon try again; they are in %s", terminal.VisibleLine(kept.BadDir()))
		}
	})
}

func retrySpool(a *terminal.App) error {
	p, err := homedir.Of(a)
	if err != nil {
		return err
	}
	n, err := spool.New(p.Home).Retry()
	if err != nil {
		return terminal.Advise(fmt.Errorf("%d were brought back: %w", n, err), "see to the rights of that folder")
	}
	return a.ShowLine(map[string]int{"brought_back": n}, "brought back: %s; the daemon takes them as soon as it runs\n", number.Plural(n, "payload"))
}
