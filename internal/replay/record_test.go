package replay

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

func (s *script) record(w Wanted) *Recording {
	s.tb.Helper()
	rec, err := Record(s.log.All(s.tb.Context(), 1), w)
	if err != nil {
		s.tb.Fatal(err)
	}
	return rec
}

// brief is an event in the few fields that a table shows.
type brief struct {
	AtMS   int64
	Kind   string
	Batch  int
	Output string
	Code   string
	Resets int64
}

func briefs(s *Scenario) []brief {
	var out []brief
	for _, e := range s.Events {
		b := brief{AtMS: e.AtMS, Kind: e.Kind, Batch: e.Batch, Output: e.Output.RawText()}
		if e.Provider != nil {
			b.Code, b.Resets = e.Provider.Code, e.Provider.ResetsMS
		}
		out = append(out, b)
	}
	return out
}

// stretch is a log with every kind of end in it: one session's work and stop, in two turns that needed six attempts.
func stretch(tb testing.TB) *script {
	s := newScript(tb)
	s.begin(nil)
	s.work("a", 3)
	s.stop("a")
	s.mustStart("a")
	s.fail("a", events.FailLimit, time.Hour) // the first event: 0
	s.later(2 * time.Hour)
	s.mustStart("a")
	s.later(250 * time.Millisecond)
	s.fail("a", events.FailCrash, 0) // 7,200,250
	s.later(time.Minute)
	s.mustStart("a")
	s.fail("a", events.FailRefused, -time.Hour) // 7,260,250
	s.mustStart("a")
	s.end(true, nil) // interrupted by an orderly stop: no event
	s.later(time.Second)
	s.mustStart("a")
	s.end(false, nil) // interrupted by a crash: 7,261,250
	s.later(time.Minute)
	for s.start("a") { // halved: the third failure of the batch
		s.answer("a", prose)
		s.later(time.Second)
	}
	return s
}

func TestRecord(t *testing.T) {
	t.Parallel()
	s := stretch(t)
	rec := s.record(Wanted{Respawn: Respawn{DelayMS: 5, Output: events.NewOutput("ready")}})
	want := []brief{
		{AtMS: 0, Kind: KindObservation, Batch: 3, Code: "limit", Resets: 3_600_000},
		{AtMS: 7_200_250, Kind: KindExit},
		{AtMS: 7_260_250, Kind: KindObservation, Code: "refused", Resets: 3_660_250},
		{AtMS: 7_261_250, Kind: KindExit},
		{AtMS: 7_321_250, Kind: KindObservation, Output: prose},
		{AtMS: 7_322_250, Kind: KindObservation, Output: prose},
		{AtMS: 7_323_250, Kind: KindSummary, Batch: 1, Output: prose},
	}
	if d := cmp.Diff(want, briefs(rec.Scenario)); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	first := rec.Scenario.Events[0]
	if first.Session != sessionOf("a").String() || first.Observer != "scripted" || first.Turn == "" || first.Position == 0 {
		t.Errorf("the first event does not say where it is from: %+v", first)
	}
	if got := rec.Scenario.Events[4].Tokens; got != (Tokens{In: 1500, Out: 40}) {
		t.Errorf("tokens: got %+v", got)
	}
	if rec.Scenario.Respawn.Output.RawText() != "ready" || rec.Sessions != 1 || len(rec.Gaps) != 0 || rec.Scenario.EndMS != 7_323_250 {
		t.Errorf("got %+v", rec)
	}
}

// TestRecordSaysWhatItRead names the first and the last record that was read, whichever the log begins with.
func TestRecordSaysWhatItRead(t *testing.T) {
	t.Parallel()
	s := stretch(t)
	last, err := s.log.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []events.Position{1, 3} {
		rec, err := Record(s.log.All(t.Context(), from), Wanted{})
		if err != nil || rec.First != from || rec.Last != last {
			t.Errorf("from %d: got %d to %d, %v; want %d to %d", from, rec.First, rec.Last, err, from, last)
		}
	}
}

// TestRecordCountsAnInputOnce has inputs observed again: they are in no second batch.
func TestRecordCountsAnInputOnce(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.work("a", 2)
	s.stop("a")
	s.mustStart("a")
	s.answer("a", prose)
	s.must("a", session.Reobserve{ID: s.id(), At: s.now, Inputs: []events.Position{2, 3}})
	s.mustStart("a")
	s.answer("a", observed)
	got := briefs(s.record(Wanted{}).Scenario)
	want := []brief{
		{Kind: KindObservation, Batch: 2, Output: prose}, {Kind: KindObservation, Output: observed},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}

func TestRecordCommits(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.work("a", 1)
	s.stop("a")
	s.mustStart("a")
	turn := s.turns["a"].Turn
	claim := func(hash string, v events.Verdict) events.Claim {
		return events.Claim{Kind: "commit", Value: hash, Verdict: v}
	}
	s.must("a", session.Answer{
		ID: s.id(), At: s.now, Received: events.TurnReceived{Turn: turn, Output: events.NewOutput(observed)},
		Observations: []events.ObservationParsed{
			{Turn: turn, Title: "1", Claims: []events.Claim{claim("abcdef1", events.Verified), claim("abcdef2", events.Unknown)}},
			{Turn: turn, Title: "2", Claims: []events.Claim{claim("abcdef1", events.Verified), claim("abcdef3", events.Absent)}},
		},
		Summary: &events.SummaryParsed{Turn: turn, Request: "r", Claims: []events.Claim{claim("abcdef4", events.Absent)}},
	})
	want := []Commit{{"abcdef1", true}, {"abcdef3", false}, {"abcdef4", false}}
	if d := cmp.Diff(want, s.record(Wanted{}).Scenario.Events[0].Commits); d != "" {
		t.Errorf("commits (-want +got):\n%s", d)
	}
}

func TestRecordSelects(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	var ends []time.Time
	for range 3 {
		for _, name := range []string{"a", "b"} {
			s.work(name, 1)
			s.stop(name)
			s.mustStart(name)
			s.answer(name, observed)
			ends = append(ends, s.now)
			s.mustStart(name)
			s.answer(name, summarized)
			s.later(time.Minute)
		}
	}
	for name, test := range map[string]struct {
		sel  Selection
		want int
		ends int64 // of the scenario
	}{
		"all":            {Selection{}, 12, 5 * 61_000},
		"one session":    {Selection{Sessions: []events.SessionID{sessionOf("b")}}, 6, 4 * 61_000},
		"from its end":   {Selection{Since: ends[2]}, 8, 3 * 61_000},
		"behind its end": {Selection{Since: ends[2].Add(1)}, 6, 2 * 61_000},
		"before its end": {Selection{Until: ends[2]}, 4, 2 * 61_000},
		"a stretch":      {Selection{Since: ends[1], Until: ends[3]}, 4, 2 * 61_000},
		"nothing":        {Selection{Since: s.now.Add(1)}, 0, 0},
	} {
		rec := s.record(Wanted{Selection: test.sel})
		if got := len(rec.Scenario.Events); got != test.want {
			t.Errorf("%s: got %d events, want %d", name, got, test.want)
		}
		if len(rec.Scenario.Events) > 0 && rec.Scenario.Events[0].AtMS != 0 {
			t.Errorf("%s: does not begin at 0", name)
		}
		if got := rec.Scenario.EndMS; got != test.ends {
			t.Errorf("%s: ends at %d ms, want %d", name, got, test.ends)
		}
	}
}

// TestRecordTellsNothingOfInputs plants a secret in every text that agents and users write. It is in the recording only
// where it was asked for.
func TestRecordTellsNothingOfInputs(t *testing.T) {
	t.Parallel()
	const canary = "canary-7f3a"
	s := newScript(t)
	s.capture("a", events.SessionOpened{Source: canary})
	s.capture("a", events.PromptSubmitted{Text: canary})
	s.capture("a", events.ToolUsed{Tool: canary, Input: canary, Output: canary, Cwd: canary})
	s.capture("a", events.ContextCompacted{Summary: canary})
	s.capture("a", events.ToolUsed{Tool: "Read"})
	s.capture("a", events.AgentStopped{LastMessage: canary, Error: canary})
	for s.start("a") {
		s.answer("a", observed)
	}
	all := func(rec *Recording) ([]byte, error) { return json.Marshal([]any{rec, rec.Scenario}) }
	without, err := all(s.record(Wanted{}))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(without), canary) {
		t.Errorf("a recording without inputs holds what an agent wrote: %s", without)
	}
	rec := s.record(Wanted{Inputs: true})
	batch, inputs := 0, 0
	var kinds []events.Kind
	for _, e := range rec.Scenario.Events {
		batch, inputs = batch+e.Batch, inputs+len(e.Inputs)
		for _, text := range e.Inputs {
			var in struct{ Kind events.Kind }
			if err := json.Unmarshal(text, &in); err != nil || !strings.Contains(string(text), "event") {
				t.Fatalf("input %s: %v", text, err)
			}
			kinds = append(kinds, in.Kind)
		}
	}
	if batch != inputs || batch != 5 {
		t.Errorf("got %d contents of %d inputs, want 5", inputs, batch)
	}
	if with, _ := all(rec); !strings.Contains(string(with), canary) {
		t.Errorf("a recording with inputs does not hold them: %s, kinds %v", with, kinds)
	}
}

// TestRecordOfErased says what could not be taken, and takes the rest.
func TestRecordOfErased(t *testing.T) {
	t.Parallel()
	find := func(s *script, kind events.Kind, nth int) events.Position {
		for r := range s.log.All(t.Context(), 1) {
			if r.Kind == kind {
				if nth--; nth == 0 {
					return r.Position
				}
			}
		}
		t.Fatalf("no %s", kind)
		return 0
	}
	for _, test := range []struct {
		kind   events.Kind
		nth    int
		events int
		batch  int
		gaps   int
	}{
		{events.KindToolUsed, 1, 7, 4, 1},
		{events.KindTurnReceived, 1, 7, 4, 1},
		{events.KindTurnFailed, 1, 6, 4, 1},
		{events.KindTurnStarted, 1, 7, 4, 1}, // its inputs are counted where they are settled next
	} {
		s := stretch(t)
		if err := s.log.Erase(t.Context(), find(s, test.kind, test.nth)); err != nil {
			t.Fatal(err)
		}
		rec := s.record(Wanted{Inputs: true})
		batch := 0
		for _, e := range rec.Scenario.Events {
			batch += e.Batch
		}
		if len(rec.Scenario.Events) != test.events || batch != test.batch || len(rec.Gaps) != test.gaps {
			t.Errorf("%s erased: got %d events, batch %d, gaps %+v; want %d, %d, %d",
				test.kind, len(rec.Scenario.Events), batch, rec.Gaps, test.events, test.batch, test.gaps)
		}
	}
}

func TestRecordOfNothing(t *testing.T) {
	t.Parallel()
	rec := newScript(t).record(Wanted{})
	if rec.Scenario.Events == nil || len(rec.Scenario.Events) != 0 || rec.Scenario.EndMS != 0 || !rec.Began.IsZero() {
		t.Errorf("of an empty log: %+v", rec)
	}
	broken := errors.New("broken")
	_, err := Record(func(yield func(events.Record, error) bool) { yield(events.Record{}, broken) }, Wanted{})
	if !errors.Is(err, broken) {
		t.Errorf("an error of the sequence: got %v", err)
	}
}
