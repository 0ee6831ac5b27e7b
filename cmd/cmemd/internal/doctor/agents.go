package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/setup"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/install"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/number"
)

// checkAgents looks whether the agents on this machine have cmemd in them as it is to be, and when a hook of each was last called:
// hooks that stand in a file and are never called look like hooks that work.
func checkAgents(ctx context.Context, x *examination) []finding {
	machine, store, err := setup.Here(x.app)
	if err != nil {
		return []finding{unknown("%v", err)}
	}
	var out []finding
	for _, a := range install.Agents() {
		if one, ok := x.checkAgent(a, machine, store); ok {
			out = append(out, one)
		}
	}
	for _, a := range install.Agents() {
		if trust, ok := x.checkTrust(ctx, a, store); ok {
			out = append(out, trust)
		}
	}
	if len(out) == 0 {
		return []finding{note("install one; `cmemd install --help` lists those that are known", "no agent is on this machine")}
	}
	return out
}

// oldReport is how long an agent may report nothing before that is worth a word: a holiday.
const oldReport = 14 * 24 * time.Hour

// checkAgent says how one agent is; ok is false for one that is not there and was never heard of.
func (x *examination) checkAgent(a install.Agent, m install.Machine, s install.Store) (c finding, ok bool) {
	mend := "`cmemd install " + a.Name + "`"
	r, err := s.Load(a.Name)
	last, noLast := capture.LastReported(x.paths.Home, a.Name)
	switch {
	case err != nil:
		return faulty(cmp.Or(terminal.NextStep(err), mend), "%s: what was put into it is not known: %s", a.Title, terminal.Describe(err)), true
	case r == nil && !last.IsZero() && x.now.Sub(last) < oldReport:
		return healthy("%s: last reported %s; `cmemd install` has nothing in it", a.Title, x.ago(last)), true
	case r == nil && !a.Found(m):
		return c, false
	case r == nil:
		return note(mend, "%s is on this machine, and cmemd is not in it", a.Title), true
	}
	if err := setup.Check(x.app, a, r, x.config == nil || x.config.Listen != ""); err != nil {
		if mend := terminal.NextStep(err); mend != "" {
			return faulty(mend, "%s: %v", a.Title, err), true
		}
		return unknown("%s: %v", a.Title, err), true
	}
	says := fmt.Sprintf("%s: cmemd is in it (%s)", a.Title, r.Method)
	switch {
	case !a.Captures():
		return healthy("%s, for memory as tools: it reports nothing", says), true
	case noLast != nil:
		return unknown("%s; when it last reported: %v", says, noLast), true
	}
	if a.NoRemarks {
		says += "; " + unheardMeans
	}
	return x.reportedAt(says, last), true
}

// reportedAt is what is said of an agent that last reported at some time, behind what else is said of it.
func (x *examination) reportedAt(says string, last time.Time) finding {
	const mend = "start a session of it; where that changes nothing, look at its own list of hooks"
	switch {
	case last.IsZero():
		return note(mend, "%s, and it never reported anything", says)
	case x.now.Sub(last) > oldReport:
		return note(mend, "%s, and last reported %s", says, x.ago(last))
	}
	return healthy("%s, last reported %s", says, x.ago(last))
}

// ago is how long ago something was, in days where it is some. A clock that was set back makes nothing come from the future.
func (x *examination) ago(at time.Time) string {
	d := max(x.now.Sub(at), 0)
	if d < 48*time.Hour {
		return d.Round(time.Second).String() + " ago"
	}
	return number.Plural(int(d/(24*time.Hour)), "day") + " ago"
}

// checkTrust says which of its hooks an agent does not run; ok is false where it has none, or runs all.
func (x *examination) checkTrust(ctx context.Context, a install.Agent, s install.Store) (c finding, ok bool) {
	if a.Hooks.Trust == nil {
		return c, false
	}
	if r, err := s.Load(a.Name); err != nil || r == nil {
		return c, false
	}
	trust, err := setup.AskTrust(ctx, x.app, a)
	if err != nil {
		return unknown("which hooks %s trusts: %v", a.Title, err), true
	}
	if err := setup.CheckTrust(a, trust); err != nil {
		return faulty(terminal.NextStep(err), "%v", err), true
	}
	return healthy("%s trusts %s of cmemd", a.Title, number.Plural(len(trust), "hook")), true
}

// shortHome is a text with ~ in the place of the person's home, whose name is often the person's.
func shortHome(text string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == string(filepath.Separator) || home == "" {
		return text
	}
	return strings.ReplaceAll(text, home, "~")
}
