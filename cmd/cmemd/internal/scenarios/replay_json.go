package scenarios

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/replay"
	"github.com/cmemd/cmemd/internal/replay/report"
)

// replayDocument is a comparison for programs.
type replayDocument struct {
	Scenario    string            `json:"scenario"` // its id
	Live        string            `json:"live"`     // the policy that was in force, or runs by default
	Events      int               `json:"events"`
	EndMS       int64             `json:"end_ms"`
	Assumptions replay.Respawn    `json:"assumptions"` // on a respawned observer's opening
	Windowed    policyWindow      `json:"windowed"`    // the settings of the windowed policies
	Expected    *expectedDocument `json:"expected,omitempty"`
	Proof       *api.ReplayProof  `json:"proof,omitempty"`   // of a stretch of the log
	Stretch     *stretch          `json:"stretch,omitempty"` // of the log that was replayed
	Notes       []string          `json:"notes,omitempty"`
	Report      string            `json:"report,omitempty"` // the page that was written

	Policies map[string]replay.Result `json:"policies,omitempty"`
}

// policyWindow is policy.WindowedSettings for programs.
type policyWindow struct {
	Threshold int            `json:"threshold"`
	WindowMS  int64          `json:"window_ms"`
	Exempt    []policy.Class `json:"exempt"`
	Sliding   bool           `json:"sliding,omitempty"`
}

// expectedDocument says how the results stand beside what a scenario expects.
type expectedDocument struct {
	Policies    int      `json:"policies"` // that were compared
	Equal       bool     `json:"equal"`
	Differences []string `json:"differences,omitempty"` // the first of each policy
}

func (c comparison) document(p replayPlan) replayDocument {
	d := replayDocument{
		Scenario: c.scenario.ID, Policies: make(map[string]replay.Result, len(c.runs)), Live: c.live,
		Windowed: windowOf(p.numbers.Windowed), Events: len(c.scenario.Events), EndMS: report.End(c.scenario),
		Assumptions: c.scenario.Respawn, Notes: c.notes, Report: p.report,
	}
	for _, r := range c.runs {
		d.Policies[r.Policy] = r.Result
	}
	if c.log != nil {
		d.Proof, d.Stretch = new(api.ReplayProofOf(c.log.proof)), stretchOf(c.log.recording)
	}
	if c.checked > 0 {
		d.Expected = &expectedDocument{Policies: c.checked, Equal: len(c.unequal) == 0, Differences: c.unequal}
	}
	return d
}

// printReplay is printJSON for a document of at least one policy, which has a word for every event and policy: the results
// are written side by side.
func printReplay(a *terminal.App, d replayDocument) error {
	names := slices.Sorted(maps.Keys(d.Policies))
	parts, errs := make([][]byte, len(names)), make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() { parts[i], errs[i] = resultText(name, d.Policies[name]) })
	}
	wg.Wait()
	d.Policies = nil
	rest, err := terminal.Marshal(d, "  ")
	if err = errors.Join(append(errs, err)...); err != nil {
		return err
	}
	rest = append(bytes.TrimSuffix(rest, []byte("\n}\n")), ",\n  \"policies\": {\n"...)
	for i, text := range parts {
		if _, err := a.Out.Write(rest); err != nil {
			return err
		}
		if _, err := a.Out.Write(text); err != nil {
			return err
		}
		parts[i], rest = nil, []byte(",\n")
	}
	_, err = a.Out.Write([]byte("\n  }\n}\n"))
	return err
}

// resultText is a policy's result as a field of a document's policies. Its decisions, which are its last field and nearly
// all of it, are plain words: they are written as they stand.
func resultText(name string, r replay.Result) ([]byte, error) {
	words := r.Decisions
	r.Decisions = nil
	key, err := json.Marshal(name)
	if err != nil {
		return nil, err
	}
	rest, err := json.MarshalIndent(r, "    ", "  ")
	if err != nil {
		return nil, err
	}
	size := 0
	for _, w := range words {
		size += len(w) + len("        \"\",\n")
	}
	text := append(make([]byte, 0, size+2*len(rest)), "    "...)
	text = append(append(text, key...), ": "...)
	text = append(text, terminal.EscapeJSON(bytes.TrimSuffix(rest, []byte("null\n    }")))...)
	return append(appendWords(text, words), "\n    }"...), nil
}

// appendWords appends words as a JSON list, each on a line.
func appendWords(text []byte, words []string) []byte {
	if len(words) == 0 {
		return append(text, "[]"...)
	}
	for i, w := range words {
		between := ",\n        \""
		if i == 0 {
			between = "[\n        \""
		}
		text = append(append(append(text, between...), w...), '"')
	}
	return append(text, "\n      ]"...)
}

func windowOf(w policy.WindowedSettings) policyWindow {
	return policyWindow{Threshold: w.Threshold, WindowMS: w.Window.Milliseconds(), Exempt: w.Exempt, Sliding: w.Sliding}
}

// showReplay shows a comparison to people.
func showReplay(a *terminal.App, c comparison) error {
	s := c.scenario
	a.Heading("%s", terminal.VisibleLine(s.ID))
	if s.Title != "" {
		a.Printf("%s\n", terminal.VisibleLine(s.Title))
	}
	a.Printf("\n")
	showComparison(a, s, c.runs, c.live)
	a.Printf("\nassumed of a respawned observer: it opens after %s with %s, for %s tokens in and %s out\n",
		report.Elapsed(s.Respawn.DelayMS), saying(s.Respawn.Output.RawText()), number.Grouped(s.Respawn.Tokens.In), number.Grouped(s.Respawn.Tokens.Out))
	for _, n := range c.notes {
		a.Printf("%s\n", terminal.VisibleLine(n))
	}
	if c.log != nil {
		showProof(a, c.log.proof)
	}
	return nil
}

// saying is the beginning of an output in quotes.
func saying(output string) string {
	text := terminal.VisibleLine(output)
	if text == "" {
		return "nothing"
	}
	return fmt.Sprintf("%q", terminal.Shortened(text, 60))
}

// stretch is a recording for programs, without its scenario.
type stretch struct {
	*replay.Recording
	Began string `json:"began"` // what at_ms counts from
}

func stretchOf(rec *replay.Recording) *stretch {
	return &stretch{Recording: rec, Began: rec.Began.UTC().Format("2006-01-02T15:04:05.000Z")}
}

// showProof says how far the stretch is explained by its own rules.
func showProof(a *terminal.App, p replay.Proof) {
	checked, _ := p.Checked()
	if p.Holds() {
		a.Printf("proof: %s on record, all explained by their rules\n", number.Plural(checked, "decision"))
	} else {
		a.Printf("proof: %d of %s on record are not explained by their rules\n", p.DifferenceCount(), number.Plural(checked, "decision"))
		for _, d := range p.Shown() {
			a.Printf("  %s\n", terminal.VisibleLine(d.String()))
			a.Printf("    recorded  %s\n    derived   %s\n", terminal.VisibleLine(cmp.Or(d.Recorded, "none")), terminal.VisibleLine(cmp.Or(d.Derived, "none")))
		}
	}
	if n := p.UnprovenCount(); n > 0 {
		a.Printf("proof: %s can no longer be proved; the first: %s\n", number.Plural(n, "decision"), terminal.VisibleLine(p.Unproven[0].String()))
	}
}
