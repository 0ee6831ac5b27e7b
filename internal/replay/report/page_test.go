package report_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/replay"
	"github.com/cmemd/cmemd/internal/replay/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// small is a scenario in which each of three policies does something else.
func small() (*replay.Scenario, []report.Run) {
	s := &replay.Scenario{
		ID: "small", Title: "Two answers in prose, then a limit", Issue: "#1", Provenance: "Made by hand.", EndMS: 60_000,
		Respawn: replay.Respawn{DelayMS: 2000, Output: events.NewOutput("Ready to observe."), Tokens: replay.Tokens{In: 5200, Out: 6}},
		Events: []replay.Event{
			{AtMS: 0, Kind: replay.KindObservation, Batch: 2, Output: events.NewOutput("<observation><title>a</title></observation>")},
			{AtMS: 10_000, Kind: replay.KindObservation, Batch: 1, Output: events.NewOutput("Nothing to do.")},
			{AtMS: 20_000, Kind: replay.KindObservation, Batch: 1, Output: events.NewOutput("Nothing to do.")},
			{AtMS: 30_000, Kind: replay.KindObservation, Batch: 3, Output: events.NewOutput("limit"), Provider: &replay.Failure{IsError: true, Code: "rate_limit"}},
			{AtMS: 40_000, Kind: replay.KindExit},
			{AtMS: 50_000, Kind: replay.KindSummary, Output: events.NewOutput("<skip_summary/>")},
		},
	}
	halted := int64(40_000)
	marks := func(words string, wasted, lost []int64) (out []replay.Mark) {
		for i, w := range strings.Fields(words) {
			out = append(out, replay.Mark{AtMS: s.Events[i].AtMS, Decision: policy.Ruling(w), WastedTokens: wasted[i], Lost: int(lost[i])})
		}
		return out
	}
	restarting := marks("keep drop respawn drop restart skip", []int64{0, 1500, 8206, 9706, 9706, 9706}, []int64{0, 1, 2, 5, 5, 5})
	restarting[3].Openings = 2
	ignoring := marks("keep drop drop drop restart skip", []int64{0, 1500, 3000, 4500, 4500, 4500}, []int64{0, 1, 2, 5, 5, 5})
	holding := marks("keep drop retry hold halt -", []int64{0, 1500, 3000, 3000, 3000, 3000}, []int64{0, 1, 1, 1, 1, 1})
	return s, []report.Run{
		{"legacy-keyword", replay.Result{Calls: 8, Respawns: 2, Restarts: 1, Observations: 1, DroppedTurns: 2, LostBatches: 5, WastedCalls: 5, WastedTokens: 9706, Marks: restarting}},
		{"ignore", replay.Result{Calls: 5, Restarts: 1, Observations: 1, DroppedTurns: 3, LostBatches: 5, WastedCalls: 3, WastedTokens: 4500, Marks: ignoring}},
		{"otp-hold", replay.Result{Calls: 4, HaltedAtMS: &halted, Observations: 1, DroppedTurns: 1, LostBatches: 1, HeldBatches: 4, WastedCalls: 2, WastedTokens: 3000, Marks: holding}},
	}
}

func write(tb testing.TB, s *replay.Scenario, runs []report.Run, o report.Options) string {
	tb.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, s, runs, o); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func options() report.Options {
	return report.Options{
		Live: "otp-hold", Began: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Program: "cmemd 1.0",
		Notes: []string{"A note."}, Proof: &replay.Proof{
			Decisions: []replay.DecisionCount{{Decision: replay.ProvedTurn, Checked: 12, Equal: 9, Unproven: 2}}, MoreUnproven: 2,
			Differences: []replay.Difference{{Position: 7, Stream: "session/s", Decision: replay.ProvedTurn, Kind: "turn_started", Why: "drop, not keep"}},
		},
	}
}

func TestPageIsTheGoldenOne(t *testing.T) {
	t.Parallel()
	s, runs := small()
	got, path := write(t, s, runs, options()), filepath.Join("testdata", "small.html")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("-want +got; if it is meant: go test ./internal/replay/report -update, and look at the page\n%s", diff)
	}
}

// TestThePageLoadsAndRunsNothing looks for whatever would make a browser fetch or execute something.
func TestThePageLoadsAndRunsNothing(t *testing.T) {
	t.Parallel()
	s, runs := small()
	got := write(t, s, runs, options())
	for _, bad := range []string{"<script", "<link", "<img", "<iframe", "<object", "@import", "http://", "https://", "javascript:", " style="} {
		if strings.Contains(got, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	for _, target := range regexp.MustCompile(`(?:href=|url\()"?([^")]+)`).FindAllStringSubmatch(got, -1) {
		if !strings.HasPrefix(target[1], "#") {
			t.Errorf("the page points to %q", target[1])
		}
	}
	if !strings.Contains(got, `content="default-src &#39;none&#39;; style-src &#39;sha256-`) {
		t.Error("the page does not forbid what it does not need")
	}
}

// tags is the page without its text.
func tags(page string) []string { return regexp.MustCompile(`<[^>]*>`).FindAllString(page, -1) }

// planted is the small scenario with text wherever a scenario, a policy or a proof may carry it.
func planted(text string) (*replay.Scenario, []report.Run, report.Options) {
	s, runs := small()
	s.ID, s.Title, s.Issue, s.Provenance, s.Respawn.Output = text, text, text, text, events.NewOutput(text)
	for i := range s.Events {
		s.Events[i].Output = events.NewOutput(text)
	}
	for i := range runs {
		runs[i].Policy = text
	}
	return s, runs, report.Options{Live: text, Program: text, Notes: []string{text}, Proof: &replay.Proof{Differences: []replay.Difference{{Why: text}}}}
}

func hostile() []string {
	return []string{
		"</script><script>alert(1)</script>", "<svg onload=alert(1)>", "</title></style><img src=x onerror=alert(1)>",
		`"><b onmouseover=1>`, "' autofocus onfocus=alert(1) '", "</svg></main><h1>fake</h1>", "<!--", "]]>", "&lt;script&gt;",
		"{{.ID}}", "\x00\x1b[31mred", "a\u202eb\u2066c", "\xff\xfe", "`${alert(1)}`", "</q></td></tr></table>", "</desc></text>",
	}
}

func TestHostileTextStaysText(t *testing.T) {
	t.Parallel()
	s, runs, o := planted("x")
	want := tags(write(t, s, runs, o))
	for _, text := range hostile() {
		s, runs, o := planted(text)
		if diff := cmp.Diff(want, tags(write(t, s, runs, o))); diff != "" {
			t.Errorf("%q changes what the page is made of: -want +got\n%s", text, diff)
		}
	}
}

func FuzzHostileTextStaysText(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text)
	}
	s, runs, o := planted("x")
	want := tags(write(f, s, runs, o))
	f.Fuzz(func(t *testing.T, text string) {
		if strings.TrimSpace(text) == "" {
			t.Skip("a page without these texts has fewer parts")
		}
		s, runs, o := planted(text)
		if diff := cmp.Diff(want, tags(write(t, s, runs, o))); diff != "" {
			t.Errorf("%q changes what the page is made of: -want +got\n%s", text, diff)
		}
	})
}

func TestDeceivingCharactersAreShown(t *testing.T) {
	t.Parallel()
	s, runs, o := planted("a\u202eb\x1bc\u200bd")
	got := write(t, s, runs, o)
	if strings.ContainsAny(got, "\u202e\x1b\u200b") || !strings.Contains(got, `a\u202eb\u001bc\u200bd`) {
		t.Error("characters that deceive a reader are not written as escapes")
	}
}

// TestLongOutputsAreQuotedShort holds the page of ten outputs of ten megabytes to what it is without them.
func TestLongOutputsAreQuotedShort(t *testing.T) {
	t.Parallel()
	s, runs, o := planted(strings.Repeat("<b>&", 10<<20/4))
	if n := len(write(t, s, runs, o)); n > 200_000 {
		t.Errorf("the page has %d bytes", n)
	}
}

// TestAHugeRecordingGivesABoundedPage fills every place of every lane, under nine policies that all differ.
func TestAHugeRecordingGivesABoundedPage(t *testing.T) {
	t.Parallel()
	const n = 100_000
	words := []policy.Ruling{"keep", "skip", "drop", "hold", "respawn", "restart", "halt", "retry"}
	s := &replay.Scenario{ID: "huge", EndMS: n * 1000}
	for i := range n {
		s.Events = append(s.Events, replay.Event{AtMS: int64(i) * 1000, Kind: replay.KindObservation, Output: events.NewOutput(fmt.Sprint(i))})
	}
	var runs []report.Run
	for p := range 9 {
		r := replay.Result{WastedTokens: n * int64(p+1), LostBatches: n * (p + 1)}
		for i := range n {
			r.Marks = append(r.Marks, replay.Mark{AtMS: int64(i) * 1000, Decision: words[(i+p)%len(words)], WastedTokens: int64(i * (p + 1)), Lost: i * (p + 1)})
		}
		runs = append(runs, report.Run{Policy: fmt.Sprint("policy", p), Result: r})
	}
	got := len(write(t, s, runs, report.Options{}))
	if got > 3<<20 {
		t.Errorf("the page has %d bytes", got)
	}
	t.Logf("%d events under %d policies: %d bytes", n, len(runs), got)
}

func TestAPageOfNothing(t *testing.T) {
	t.Parallel()
	if got := write(t, &replay.Scenario{}, nil, report.Options{}); !strings.Contains(got, "0 events over") {
		t.Error("an empty scenario has no page")
	}
	s, runs := small()
	if got := write(t, s, runs[:1], report.Options{}); strings.Contains(got, "★</span></td>") || strings.Contains(got, `class="tile"`) {
		t.Error("one policy alone is called the best")
	}
}
