package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
)

const doctorHelp = `Doctor looks at all that cmemd stands on, and says of each thing whether it is well, and if not what mends it.
It ends with 1 if something is wrong. Without a daemon it looks at what there is. What --deep costs is counted nowhere, neither
in ` + "`cmemd usage`" + ` nor in a budget; where the day's budget is used up, it asks no model that costs. --bundle writes what it found to a file that can be
sent to somebody who helps: a .tar.gz of numbers, settings and logs, without secrets and without a word that an agent said.`

func newDoctor(a *terminal.App) *cobra.Command {
	deep, bundle := false, ""
	c := &cobra.Command{
		Use: "doctor", Short: "Say what is wrong and what mends it; exit code 1 if something is", Args: terminal.Takes(0, 0, ""), Long: doctorHelp,
	}
	c.Flags().BoolVar(&deep, "deep", false, "search once and ask each configured model once too, which may cost something")
	c.Flags().StringVar(&bundle, "bundle", "", "write what was found to this new file, a .tar.gz")
	c.RunE = func(c *cobra.Command, _ []string) error {
		x, err := examine(c.Context(), a)
		if err != nil {
			return err
		}
		x.deep = deep
		found := x.diagnose(c.Context(), checks())
		if bundle != "" {
			if err := x.writeBundle(c.Context(), found, bundle); err != nil {
				return err
			}
		}
		if a.JSON {
			if err := a.PrintJSON(found); err != nil {
				return err
			}
		} else {
			showDiagnosis(a, found)
		}
		return a.Reported(found.err())
	}
	return c
}

// checkState is how one thing is.
type checkState string

const (
	stateOK      checkState = "ok"
	stateNote    checkState = "note"    // worth knowing; nothing that somebody must do
	stateWrong   checkState = "wrong"   // somebody should do something
	stateUnknown checkState = "unknown" // it could not be looked at
)

// A checked is what doctor says of one thing.
type checked struct {
	Name  string     `json:"name"`
	State checkState `json:"state"`
	Says  string     `json:"says"`
	Mend  string     `json:"mend,omitempty"` // what to do about it
}

func well(format string, args ...any) checked {
	return checked{State: stateOK, Says: fmt.Sprintf(format, args...)}
}

func note(mend, format string, args ...any) checked {
	return checked{State: stateNote, Says: fmt.Sprintf(format, args...), Mend: mend}
}

func wrong(mend, format string, args ...any) checked {
	return checked{State: stateWrong, Says: fmt.Sprintf(format, args...), Mend: mend}
}

func unknown(format string, args ...any) checked {
	return checked{State: stateUnknown, Says: fmt.Sprintf(format, args...)}
}

// needsDaemon is what is said of a thing that only a daemon knows.
func needsDaemon() []checked {
	return []checked{unknown("no daemon answers that could tell")}
}

// A check looks at one thing, and says one line of it or more.
type check struct {
	name string
	look func(ctx context.Context, x *examination) []checked
}

// checks lists them in the order in which they are shown: what others stand on comes first. A new check is a function and
// a line here.
func checks() []check {
	return []check{
		{"home", checkHome}, {"settings", checkSettings}, {"disk", checkDisk}, {"clock", checkClock}, {"git", checkGit},
		{"daemon", checkDaemon}, {"socket", checkSocket}, {"version", checkVersion}, {"log", checkLog}, {"views", checkViews}, {"vectors", checkVectors},
		{"inputs", checkInputs}, {"spool", checkSpool}, {"hooks", checkHooks}, {"agents", checkAgents}, {"provider", checkProvider}, {"model", checkModels},
		{"budget", checkBudget}, {"observer", checkObserver}, {"search", checkSearch},
	}
}

// An examination is what the checks look at.
type examination struct {
	app      *terminal.App
	paths    homedir.Paths
	config   *config.Loaded
	settings error // of the settings
	status   *api.Status
	daemon   error // why there is no status
	now      time.Time
	deep     bool // the model may be asked
}

// examine gathers what several checks need. What cannot be had is for them to tell.
func examine(ctx context.Context, a *terminal.App) (*examination, error) {
	p, err := homedir.Of(a)
	if err != nil {
		return nil, err
	}
	x := &examination{app: a, paths: p, now: a.Now()}
	x.config, x.settings = config.Load(p.Home, a.Environ)
	x.daemon = a.Query(ctx, func(ctx context.Context, client *api.Client) error {
		s, err := client.Status(ctx)
		if err == nil {
			x.status = &s
		}
		return err
	})
	return x, ctx.Err()
}

// A diagnosis is what doctor found.
type diagnosis struct {
	OK     bool      `json:"ok"`
	Home   string    `json:"home"`
	Checks []checked `json:"checks"`
}

func (x *examination) diagnose(ctx context.Context, checks []check) diagnosis {
	d := diagnosis{OK: true, Home: x.paths.Home}
	for _, c := range checks {
		for _, found := range c.look(ctx, x) {
			found.Name = c.name
			d.OK = d.OK && found.State != stateWrong
			d.Checks = append(d.Checks, found)
		}
	}
	return d
}

// errUnwell is something that doctor found wrong.
var errUnwell = errors.New("not all is well")

func (d diagnosis) err() error {
	if d.OK {
		return nil
	}
	n := 0
	for _, c := range d.Checks {
		if c.State == stateWrong {
			n++
		}
	}
	return terminal.Advise(fmt.Errorf("%w: %s to mend", errUnwell, terminal.Plural(n, "thing")), "do what stands behind `mend`, from the top")
}

func showDiagnosis(a *terminal.App, d diagnosis) {
	for _, c := range d.Checks {
		a.Printf("%-8s %-9s %s\n", c.State, c.Name, terminal.VisibleLine(a.ShownNotice(c.Says)))
		if c.Mend != "" {
			a.Printf("%-8s %-9s mend: %s\n", "", "", terminal.VisibleLine(a.ShownNotice(c.Mend)))
		}
	}
}
