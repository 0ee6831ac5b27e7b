package scenarios

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/replay"
	"github.com/cmemd/cmemd/internal/replay/report"
)

// replayRoot is a tree of commands with replay alone.
func replayRoot(a *terminal.App) *cobra.Command {
	root := &cobra.Command{Use: "cmemd", SilenceErrors: true, SilenceUsage: true}
	root.PersistentFlags().BoolVar(&a.JSON, "json", false, "print JSON")
	root.AddCommand(NewReplay(a))
	return root
}

// poisonLoops are the recorded scenarios, by file.
func poisonLoops(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "internal", "replay", "testdata", "scenarios", "*.json"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d scenarios, want 10: %v", len(files), err)
	}
	return files
}

// replayed runs `cmemd replay` with args and returns what it printed.
func replayed(t *testing.T, args ...string) (string, error) {
	t.Helper()
	a, out, _ := clitest.App()
	a.Now = time.Now
	root := replayRoot(a)
	root.SetArgs(append([]string{"replay"}, args...))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// TestReplayGivesWhatEveryPoisonLoopExpects compares what a program reads with the expectations as they stand in the
// files, key by key, so that neither a figure nor its name can drift.
func TestReplayGivesWhatEveryPoisonLoopExpects(t *testing.T) {
	t.Parallel()
	for _, file := range poisonLoops(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want struct {
				ID     string
				Expect map[string]map[string]any
			}
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			out, err := replayed(t, "--scenario", file, "--policy", "all", "--json")
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Scenario string
				Policies map[string]map[string]any
			}
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			if got.Scenario != want.ID || len(got.Policies) != len(policy.Names()) {
				t.Errorf("%d policies of %q, want %d of %q", len(got.Policies), got.Scenario, len(policy.Names()), want.ID)
			}
			if diff := cmp.Diff(want.Expect, got.Policies); diff != "" {
				t.Errorf("-expected +got\n%s", diff)
			}
		})
	}
}

// TestStripsAgreeWithDecisions holds the drawing of every poison loop to the decisions that are printed for programs.
func TestStripsAgreeWithDecisions(t *testing.T) {
	t.Parallel()
	for _, file := range poisonLoops(t) {
		in, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		s, err := replay.ReadScenario(in)
		if err != nil {
			t.Fatal(err)
		}
		results, err := replay.Compare(s, policy.Names(), replay.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for name, r := range results {
			drawn := map[report.Lane]int{}
			for _, c := range report.Strip(s, r, 50) {
				for _, l := range report.Lanes() {
					drawn[l] += c[l]
				}
			}
			for lane, word := range map[report.Lane]policy.Ruling{report.Kept: policy.RuleKeep, report.Dropped: policy.RuleDrop, report.Halted: policy.RuleHalt} {
				if want := decided(r.Decisions, string(word)); drawn[lane] != want {
					t.Errorf("%s under %s: %d %s are drawn, want %d", s.ID, name, drawn[lane], lane, want)
				}
			}
			if drawn[report.Respawned] > r.Respawns {
				t.Errorf("%s under %s: %d respawns are drawn, there were %d", s.ID, name, drawn[report.Respawned], r.Respawns)
			}
		}
	}
}

func decided(decisions []string, word string) (n int) {
	for _, d := range decisions {
		if d, _, _ := strings.Cut(d, "+"); d == word {
			n++
		}
	}
	return n
}

func TestFirstDifferenceNamesIt(t *testing.T) {
	t.Parallel()
	ms, later := int64(48_000), int64(48_001)
	base := replay.Result{Calls: 3, HaltedAtMS: &ms, Decisions: []string{"keep", "drop"}}
	for _, tt := range []struct {
		name   string
		change func(*replay.Result)
		want   string
	}{
		{"nothing", func(*replay.Result) {}, ""},
		{"a figure", func(r *replay.Result) { r.WastedTokens = 7 }, "wasted_tokens is 7, expected 0"},
		{"the first of two", func(r *replay.Result) { r.Calls, r.WastedTokens = 4, 7 }, "calls is 4, expected 3"},
		{"no halt", func(r *replay.Result) { r.HaltedAtMS = nil }, "halted_at_ms is -1, expected 48000 (-1: never)"},
		{"a later halt", func(r *replay.Result) { r.HaltedAtMS = &later }, "halted_at_ms is 48001, expected 48000 (-1: never)"},
		{"a decision", func(r *replay.Result) { r.Decisions = []string{"keep", "keep"} }, `decisions[1] is "keep", expected "drop"`},
		{"one too few", func(r *replay.Result) { r.Decisions = []string{"keep"} }, `decisions[1] is "", expected "drop"`},
		{"one too many", func(r *replay.Result) { r.Decisions = []string{"keep", "drop", "drop"} }, "3 decisions, expected 2"},
	} {
		got := base
		tt.change(&got)
		if diff := firstDifference(base, got); diff != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, diff, tt.want)
		}
	}
}

// TestComparisonsFitATerminal: on 80 columns what tells least is left out, and elsewhere nothing is.
func TestComparisonsFitATerminal(t *testing.T) {
	t.Parallel()
	runs := []report.Run{
		{Policy: "legacy-keyword", Result: replay.Result{Calls: 313, Respawns: 72, Observations: 61, Summaries: 1, DroppedTurns: 62, LostBatches: 266, Recovered: 3, HeldBatches: 1, WastedCalls: 206, WastedTokens: 577_261}},
		{Policy: livePolicy(), Result: replay.Result{Calls: 241, Observations: 61, Summaries: 1, DroppedTurns: 85, LostBatches: 168, WastedCalls: 85, WastedTokens: 128_733}},
	}
	all := comparisonColumns(runs, livePolicy())
	if got, want := len(all), len(report.Figures())+1; got != want {
		t.Errorf("%d columns, want %d", got, want)
	}
	fitted := fitColumns(all, 80)
	if tooWide(fitted, 80) {
		t.Error("the table is wider than its terminal")
	}
	heads := ""
	for _, c := range fitted {
		heads += " " + strings.TrimSpace(c.head)
	}
	for _, must := range []string{"POLICY", "RESPAWNS", "LOST", "WASTED TOKENS"} {
		if !strings.Contains(heads, must) {
			t.Errorf("%s is left out of%s", must, heads)
		}
	}
	if strings.Contains(heads, "FLAGGED") {
		t.Error("a column of zeros is shown")
	}
}

func TestParseTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]replay.Tokens{"5200": {In: 5200}, "5200,6": {In: 5200, Out: 6}, " 1 , 2 ": {In: 1, Out: 2}, "0,0": {}} {
		if got, err := parseTokens(text); err != nil || got != want {
			t.Errorf("parseTokens(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", ",", "x", "-1", "1,-1", "1,2,3", "1e3", "100000001"} {
		if got, err := parseTokens(text); err == nil {
			t.Errorf("parseTokens(%q) = %v, want an error", text, got)
		}
	}
}

// TestCapturedTextCannotSpeakToTheTerminal plants what would move a cursor wherever a scenario may hold text.
func TestCapturedTextCannotSpeakToTheTerminal(t *testing.T) {
	t.Parallel()
	const bad = "\x1b[2Jx\u202ey"
	file := filepath.Join(t.TempDir(), "bad.json")
	text, err := json.Marshal(replay.Scenario{
		ID: bad, Title: bad, Provenance: bad, Respawn: replay.Respawn{Output: events.NewOutput(bad)},
		Events: []replay.Event{{Kind: replay.KindObservation, Output: events.NewOutput(bad), Session: bad, Observer: bad}},
		Expect: map[string]replay.Result{"otp": {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, more := range [][]string{nil, {"--json"}} {
		out, err := replayed(t, append([]string{"--scenario", file}, more...)...)
		if err == nil {
			t.Error("what differs from what is expected is no error")
		}
		var said bytes.Buffer
		(&terminal.App{Err: &said}).Complain(err)
		if strings.ContainsAny(out+said.String(), "\x1b\u202e") {
			t.Errorf("%v: the terminal is spoken to: %q", more, out+said.String())
		}
	}
}

// TestReplayTellsOfAPolicyThatRanAway has one policy respawn at every instant; the others have their results.
func TestReplayTellsOfAPolicyThatRanAway(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runaway.json")
	text := `{"id": "runaway", "respawn": {"delay_ms": 0, "output": "this session has ended"}, "end_ms": 60000, "events": [
		{"at_ms": 0, "kind": "observation", "batch": 1, "output": "this session has ended"}, {"at_ms": 5, "kind": "exit"}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := replayed(t, "--scenario", file, "--json")
	if terminal.ExitCode(err) != terminal.ExitFailure {
		t.Errorf("the error is %v", err)
	}
	var doc struct {
		Policies map[string]struct {
			Error     string
			Decisions []string
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range policy.Names() {
		got := doc.Policies[string(name)]
		if away := name == policy.LegacyKeyword || name == policy.Windowed; (got.Error != "") != away || !away && len(got.Decisions) != 2 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	page := filepath.Join(t.TempDir(), "page.html")
	out, err = replayed(t, "--scenario", file, "--report", page)
	if terminal.ExitCode(err) != terminal.ExitFailure || !strings.Contains(err.Error(), "legacy-keyword, windowed") {
		t.Errorf("the error is %v", err)
	}
	for _, want := range []string{"legacy-keyword was given up: ", "windowed was given up: ", "otp-hold (live)"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not said in\n%s", want, out)
		}
	}
	if text, err := os.ReadFile(page); err != nil || strings.Count(string(text), ">given up: ") != 2 {
		t.Errorf("the page does not say so of two: %v", err)
	}
}

// TestReplayPrintsItsDocumentAsAnyOther holds what is written by hand to what encoding/json writes.
func TestReplayPrintsItsDocumentAsAnyOther(t *testing.T) {
	t.Parallel()
	halted := int64(7)
	d := replayDocument{Scenario: "a <b> & \u202e", Policies: map[string]replay.Result{
		"otp":    {Calls: 2, HaltedAtMS: &halted, Decisions: []string{"keep", "drop+2", "-"}},
		"ignore": {Error: "too many \u202e", Decisions: []string{}},
		"otp \"": {Decisions: []string{"halt"}},
	}}
	by, out, _ := clitest.App()
	if err := printReplay(by, d); err != nil {
		t.Fatal(err)
	}
	as, want, _ := clitest.App()
	if err := as.PrintJSON(d); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), out.String()); diff != "" {
		t.Errorf("-printJSON +printReplay\n%s", diff)
	}
}
