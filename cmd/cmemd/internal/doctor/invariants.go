package doctor

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/offline"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/projections/engine"
)

// invariants lists what must hold of a home at any moment, whatever it has met. They are looked at with --deep alone: each reads all
// there is. testkit/faults holds homes to them.
func invariants() []check {
	all := []check{
		{name: "records", run: checkRecords}, {name: "balance", run: checkBalance}, {name: "rebuilt", run: checkRebuilt},
		{name: "ahead", run: checkAhead, okDetail: "no view knows more than the log"},
		{name: "forgotten", run: checkForgotten}, {name: "entries", run: checkEntries}, {name: "token", run: checkToken},
		{name: "modes", run: checkModes, okDetail: "nobody else can read a file"}, {name: "leftovers", run: checkLeftovers, okDetail: "there are none"},
	}
	for i := range all {
		all[i].deep = true
	}
	return all
}

// fullExamination is what a look at all of a home's log and views found.
type fullExamination struct {
	verified    api.Verified
	compared    api.Compared
	last        events.Position
	checkpoints map[string]events.Position // how far each view is
	err         error                      // why it could not be looked at
}

// examineAll looks once, for all checks that need it.
func (x *examination) examineAll(ctx context.Context) *fullExamination {
	if x.all == nil {
		x.all = &fullExamination{}
		x.all.err = offline.WithLog(ctx, x.app, func(log offline.Source) error { return x.all.read(ctx, x, log) })
	}
	return x.all
}

func (w *fullExamination) read(ctx context.Context, x *examination, log offline.Source) (err error) {
	if w.checkpoints, err = x.checkpoints(ctx); err != nil {
		return err
	}
	head, err := api.RecordsRoute.Call(ctx, log, api.RecordsQuery{From: 1, Limit: 1})
	if err != nil {
		return err
	}
	w.last = head.Last
	w.verified, err = terminal.Measured(x.app, "checking records", func(m *terminal.Meter) (api.Verified, error) {
		return api.VerifyRoute.Call(ctx, log, api.NoQuery{}, m.Progress)
	})
	if err != nil || w.verified.Damaged() {
		return err
	}
	w.compared, err = terminal.Measured(x.app, "checking views", func(m *terminal.Meter) (api.Compared, error) {
		return api.CompareRoute.Call(ctx, log, api.NoQuery{}, m.Progress)
	})
	return err
}

// checkpoints is how far each view says that it is.
func (x *examination) checkpoints(ctx context.Context) (map[string]events.Position, error) {
	if x.status == nil {
		points, err := engine.Checkpoints(x.paths.Views)
		if errors.Is(err, engine.ErrDamaged) {
			return nil, nil // the next daemon makes them anew
		}
		return points, err
	}
	points := map[string]events.Position{}
	return points, x.app.Query(ctx, func(ctx context.Context, client api.Invoker) error {
		views, err := api.ProjectionsRoute.Call(ctx, client, api.NoQuery{})
		for _, v := range views {
			points[v.Name] = v.Checkpoint
		}
		return err
	})
}

// notExamined is what is said where the log could not be looked at.
func (w *fullExamination) notExamined() []finding {
	var problem *api.Problem
	switch {
	case errors.Is(w.err, terminal.ErrNothing):
		return []finding{note("`cmemd start` makes one", "there is no log yet")}
	case errors.As(w.err, &problem) && problem.Type == api.ProblemNotFound: // each of the routes is there in a daemon of this version
		c := unknown("the daemon is of another version, which does not look at this")
		c.Mend = "`cmemd restart`"
		return []finding{c}
	case errors.As(w.err, &problem) && problem.Type == api.ProblemConflict: // words were forgotten meanwhile
		c := unknown("%s", terminal.Describe(w.err))
		c.Mend = "`cmemd doctor --deep` once more"
		return []finding{c}
	}
	return []finding{faulty("see to what it says", "it could not be looked at: %s", terminal.Describe(w.err))}
}

// checkRecords looks at each record: that it follows the one before, and is what chain and payload hash say.
func checkRecords(ctx context.Context, x *examination) []finding {
	w := x.examineAll(ctx)
	switch {
	case w.verified.Damaged():
		return []finding{faulty("`cmemd log verify` says more", "%s: %s", w.verified.Place(), w.verified.Reason)}
	case w.err != nil:
		return w.notExamined()
	}
	return []finding{healthy("all %d are what their chains and hashes say", w.verified.Records)}
}

// checkBalance looks whether the log, the sessions' own fold and the view count the same.
func checkBalance(ctx context.Context, x *examination) []finding {
	w := x.examineAll(ctx)
	v := w.verified
	switch {
	case v.Damaged():
		return []finding{unknown("the log is damaged")}
	case w.err != nil:
		return w.notExamined()
	case len(v.Discrepancies) > 0:
		return []finding{faulty("`cmemd log verify` lists them, `cmemd projections rebuild` mends those of views", "%s: %s",
			number.Plural(len(v.Discrepancies)+v.More, "discrepancy"), v.Discrepancies[0])}
	case v.Unchecked != "":
		return []finding{unknown("not checked: %s", v.Unchecked)}
	}
	return []finding{healthy("it adds up, however it is counted")}
}

// checkRebuilt looks whether each view, and the search index, is what the log leads to.
func checkRebuilt(ctx context.Context, x *examination) []finding {
	const mend = "`cmemd projections rebuild` makes them anew"
	w := x.examineAll(ctx)
	c := w.compared
	switch {
	case w.verified.Damaged():
		return []finding{unknown("the log is damaged")}
	case w.err != nil:
		return w.notExamined()
	case !c.Well():
		return []finding{faulty(mend, "%s: %s", number.Plural(len(c.Differences)+c.More, "difference"), c.Differences[0])}
	case len(c.Anew) > 0:
		return []finding{note("the next daemon does it by itself", "views have to be made anew: %s", strings.Join(c.Anew, "; "))}
	}
	return []finding{healthy("%s are what the log leads to, up to position %d", number.Plural(len(c.Views), "view"), c.Position)}
}

// checkAhead looks whether a view knows more than the log.
func checkAhead(ctx context.Context, x *examination) (out []finding) {
	w := x.examineAll(ctx)
	if w.err != nil {
		return w.notExamined()
	}
	last := max(w.last, w.verified.Records) // it went on meanwhile
	for name, at := range w.checkpoints {
		if at > last {
			out = append(out, faulty("this log lacks what the views were made from: look for the one that they belong to", "%s is at position %d, and the log ends at %d", name, at, last))
		}
	}
	return out
}

// checkForgotten looks whether what was forgotten is gone.
func checkForgotten(ctx context.Context, x *examination) []finding {
	w := x.examineAll(ctx)
	switch {
	case w.verified.Damaged():
		return []finding{unknown("the log is damaged")}
	case w.err != nil:
		return w.notExamined()
	case x.status != nil && x.status.Erasure != nil && x.status.Erasure.Unfinished:
		return []finding{note("wait: the daemon finishes it", "something is being erased")}
	case len(w.compared.Remains) > 0:
		return []finding{faulty("`cmemd start` finishes it; `cmemd logs` says why it could not", "of %s that was forgotten the words are in the log's file, the first at position %d",
			number.Plural(len(w.compared.Remains), "record"), w.compared.Remains[0])}
	}
	return []finding{healthy("what was forgotten is in no page of the log's file")}
}

// checkEntries looks whether each entry of the spool can be opened.
func checkEntries(_ context.Context, x *examination) (out []finding) {
	kept := spool.New(x.paths.Home)
	names, err := kept.Names()
	if err != nil {
		return []finding{faulty("see to that folder's rights", "%v", err)}
	}
	for _, name := range names {
		if _, err := kept.Read(name); err != nil && !errors.Is(err, fs.ErrNotExist) { // the daemon has taken it
			out = append(out, faulty("the daemon moves it to "+kept.BadDir(), "%v", err))
		}
	}
	if len(out) == 0 {
		out = append(out, healthy("%s waiting, each of which can be opened", number.Plural(len(names), "payload")))
	}
	return out
}

// checkToken looks whether the token can be used.
func checkToken(_ context.Context, x *examination) []finding {
	token, err := homedir.ReadToken(x.paths.Token)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []finding{note("`cmemd start` makes one", "there is none yet")}
	case err != nil:
		return []finding{faulty(cmp.Or(terminal.NextStep(err), "see to that file"), "%v", err)}
	case len(token) < homedir.TokenBytes:
		return []finding{faulty("delete it; the daemon makes another", "%s holds no token of at least %d characters", x.paths.Token, homedir.TokenBytes)}
	}
	return []finding{healthy("%d characters", len(token))}
}
