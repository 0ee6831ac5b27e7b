package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

// checkState is how one thing is.
type checkState string

const (
	stateOK      checkState = "ok"
	stateNote    checkState = "note"    // worth knowing; nothing that somebody must do
	stateWrong   checkState = "wrong"   // somebody should do something
	stateUnknown checkState = "unknown" // it could not be looked at
)

// A finding is what doctor says of one thing.
type finding struct {
	Name   string     `json:"name"`
	State  checkState `json:"state"`
	Detail string     `json:"says"`
	Mend   string     `json:"mend,omitempty"` // what to do about it
}

func healthy(format string, args ...any) finding {
	return finding{State: stateOK, Detail: fmt.Sprintf(format, args...)}
}

func note(mend, format string, args ...any) finding {
	return finding{State: stateNote, Detail: fmt.Sprintf(format, args...), Mend: mend}
}

func faulty(mend, format string, args ...any) finding {
	return finding{State: stateWrong, Detail: fmt.Sprintf(format, args...), Mend: mend}
}

func unknown(format string, args ...any) finding {
	return finding{State: stateUnknown, Detail: fmt.Sprintf(format, args...)}
}

// needsDaemon is what is said of a thing that only a daemon knows.
func needsDaemon() []finding {
	return []finding{unknown("only a running daemon knows")}
}

// A check looks at one thing, and says one line of it or more.
type check struct {
	name     string
	run      func(ctx context.Context, x *examination) []finding
	daemon   bool   // it is asked only where a daemon answers
	deep     bool   // it is asked only where all is to be looked at
	okDetail string // what is said where there is nothing else to say; empty: nothing
}

func (c check) examine(ctx context.Context, x *examination) []finding {
	if c.deep && !x.deep {
		return nil
	}
	if c.daemon && x.status == nil {
		return needsDaemon()
	}
	out := c.run(ctx, x)
	if len(out) == 0 && c.okDetail != "" {
		out = append(out, healthy("%s", c.okDetail))
	}
	return out
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
	deep     bool             // all is read, and the model may be asked
	all      *fullExamination // what a look at all there is found; nil: nobody has looked
}

// examine gathers what several checks need. What cannot be had is for them to tell.
func examine(ctx context.Context, a *terminal.App) (*examination, error) {
	p, err := homedir.Of(a)
	if err != nil {
		return nil, err
	}
	x := &examination{app: a, paths: p, now: a.Now()}
	x.config, x.settings = config.Load(p.Home, a.Environ)
	status, err := a.Status(ctx)
	if x.daemon = err; err == nil {
		x.status = &status
	}
	return x, ctx.Err()
}

// A diagnosis is what doctor found.
type diagnosis struct {
	OK     bool      `json:"ok"`
	Home   string    `json:"home"`
	Checks []finding `json:"checks"`
}

// errUnwell is something that doctor found wrong.
var errUnwell = errors.New("not all is well")

func (d diagnosis) err() error {
	if d.OK {
		return nil
	}
	n := number.Count(d.Checks, func(c finding) bool { return c.State == stateWrong })
	return terminal.Advise(fmt.Errorf("%w: %s to mend", errUnwell, number.Plural(n, "thing")), "do what stands behind `mend`, from the top")
}
