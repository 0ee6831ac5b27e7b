package scenarios

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/offline"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/replay"
	"github.com/cmemd/cmemd/internal/replay/report"
)

// compare runs s under the plan's policies.
func (p replayPlan) compare(s *replay.Scenario) (comparison, error) {
	c := comparison{scenario: s, live: livePolicy()}
	results, err := replay.Compare(s, p.names, replay.Options{Settings: p.numbers, Bare: p.bare})
	if err != nil {
		return c, err
	}
	for _, n := range p.names {
		c.runs = append(c.runs, report.Run{Policy: string(n), Result: results[n]})
	}
	return c, nil
}

// replayScenario replays a scenario's file.
func replayScenario(a *terminal.App, p replayPlan) error {
	s, err := readScenario(a, p.scenario)
	if err != nil {
		return err
	}
	s.Respawn = p.respawn(s.Respawn)
	c, err := p.compare(s)
	if err != nil {
		return err
	}
	c.expect(p.tuned)
	if err := finish(a, p, c); err != nil {
		return err
	}
	if len(c.unequal) > 0 {
		return a.MarkReported(fmt.Errorf("%s differs from what it expects: %s", cmp.Or(s.ID, p.scenario), c.unequal[0]))
	}
	return a.MarkReported(c.ranAway())
}

// ranAway is the error of a comparison in which a policy came to no end; nil: all did.
func (c *comparison) ranAway() error {
	var names []string
	for _, r := range c.runs {
		if r.Result.Error != "" {
			names = append(names, r.Policy)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return terminal.Advise(fmt.Errorf("%w under %s", replay.ErrRunaway, strings.Join(names, ", ")),
		"what a respawned observer is assumed to say earns the next respawn: see --opening-output and --respawn-delay")
}

func readScenario(a *terminal.App, name string) (*replay.Scenario, error) {
	in, _, err := offline.OpenImport(a, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	s, err := replay.ReadScenario(in)
	if err != nil {
		return nil, terminal.Advise(fmt.Errorf("%w (in %s)", err, name), "`cmemd replay --help` says what a scenario is; `cmemd replay --to-scenario FILE` makes one from the log")
	}
	return s, nil
}

// expect sets the results beside what the scenario says of the policies that were run. With other settings or assumptions
// than its own there is nothing to say.
func (c *comparison) expect(tuned bool) {
	switch {
	case len(c.scenario.Expect) == 0:
		return
	case tuned:
		c.notes = append(c.notes, "What the scenario expects is not compared: settings or assumptions are not its own.")
		return
	}
	for _, r := range c.runs {
		want, ok := c.scenario.Expect[r.Policy]
		if !ok {
			continue
		}
		c.checked++
		if diff := firstDifference(want, r.Result); diff != "" {
			c.unequal = append(c.unequal, r.Policy+": "+diff)
		}
	}
	switch {
	case len(c.unequal) > 0:
		c.notes = append(c.notes, fmt.Sprintf("%d of %s differ from what the scenario expects.", len(c.unequal), number.Plural(c.checked, "policy")))
	case c.checked > 0:
		c.notes = append(c.notes, fmt.Sprintf("%s equal what the scenario expects.", number.Plural(c.checked, "policy")))
	}
}

// firstDifference names the first figure, or the first decision, in which got is not want; "" if it is.
func firstDifference(want, got replay.Result) string {
	for _, f := range report.Figures() {
		if w, g := f.Of(want), f.Of(got); w != g {
			diff := fmt.Sprintf("%s is %d, expected %d", f.Key, g, w)
			if f.None != 0 {
				diff += fmt.Sprintf(" (%d: never)", f.None)
			}
			return diff
		}
	}
	for i, w := range want.Decisions {
		if i >= len(got.Decisions) || got.Decisions[i] != w {
			return fmt.Sprintf("decisions[%d] is %q, expected %q", i, wordAt(got.Decisions, i), w)
		}
	}
	if len(got.Decisions) > len(want.Decisions) {
		return fmt.Sprintf("%d decisions, expected %d", len(got.Decisions), len(want.Decisions))
	}
	return ""
}

func wordAt(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return ""
}

// finish shows a comparison, and writes its page where that is wanted.
func finish(a *terminal.App, p replayPlan, c comparison) error {
	if p.report != "" {
		if err := writeReport(a, p, c); err != nil {
			return err
		}
	}
	if a.JSON {
		return printReplay(a, c.document(p))
	}
	if err := showReplay(a, c); err != nil {
		return err
	}
	if p.report != "" {
		a.Printf("wrote the page to %s\n", terminal.VisibleLine(p.report))
	}
	return nil
}

// writeReport writes the page.
func writeReport(a *terminal.App, p replayPlan, c comparison) error {
	o := report.Options{Live: c.live, Program: "cmemd " + a.Version, Notes: c.notes}
	if c.log != nil {
		o.Began, o.Proof = c.log.recording.Began, &c.log.proof
	}
	_, err := homedir.WriteFile(a, p.report, p.force, func(w io.Writer) error { return report.Write(w, c.scenario, c.runs, o) })
	return err
}
