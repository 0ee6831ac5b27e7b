package replay

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

func (s *script) reparse(sel Selection) Reparsing {
	s.tb.Helper()
	r, err := Reparse(s.log.All(s.tb.Context(), 1), sel, nil)
	if err != nil {
		s.tb.Fatal(err)
	}
	return r
}

// recordAs ends the turn in flight with an output that was taken for something: what an older grammar might have done.
func (s *script) recordAs(name, output string, as func(turn events.ID, a *session.Answer)) {
	s.tb.Helper()
	turn := s.turns[name].Turn
	a := session.Answer{ID: s.id(), At: s.now, Received: events.TurnReceived{Turn: turn, Output: events.NewOutput(output)}}
	as(turn, &a)
	s.must(name, a)
	s.over(name)
}

func TestReparse(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.work("a", 1)
	s.stop("a")
	s.mustStart("a")
	s.recordAs("a", observed, func(turn events.ID, a *session.Answer) {
		a.Dropped = &events.OutputDropped{Turn: turn, Class: "xml", Reason: events.ReasonMalformed}
	})
	s.mustStart("a")
	s.recordAs("a", `<summary><request>r</request><learned>new</learned></summary>`, func(turn events.ID, a *session.Answer) {
		a.Summary = &events.SummaryParsed{Turn: turn, Request: "r", Learned: "old"}
	})
	s.work("a", 1)
	s.stop("a")
	s.mustStart("a")
	s.recordAs("a", `<observation><type>bugfix</type><title>t</title><fact>f</fact><concept>c</concept></observation>`,
		func(turn events.ID, a *session.Answer) {
			a.Observations = []events.ObservationParsed{{Turn: turn, Type: events.TypeUnknown, TypeGiven: "bugfix", Title: "t", Subtitle: "s"}}
		})
	s.mustStart("a")
	s.answer("a", summarized)
	s.work("b", 1)
	s.stop("b")
	for _, output := range []string{prose, ""} {
		s.mustStart("b")
		s.answer("b", output)
	}
	got := s.reparse(Selection{})
	if got.Outputs != 6 || got.Same != 3 || got.Unknown != 0 {
		t.Errorf("got %d outputs, %d the same, %d unknown; want 6, 3, 0", got.Outputs, got.Same, got.Unknown)
	}
	wantChanges := map[string]int{"dropped -> observations": 1, "summary -> summary": 1, "observations -> observations": 1}
	if d := cmp.Diff(wantChanges, got.Changes); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
	wantThen := map[observer.Disposition]int{"dropped": 3, "summary": 2, "observations": 1}
	wantNow := map[observer.Disposition]int{"dropped": 2, "summary": 2, "observations": 2}
	if d := cmp.Diff([]map[observer.Disposition]int{wantThen, wantNow}, []map[observer.Disposition]int{got.Then, got.Now}); d != "" {
		t.Errorf("dispositions (-want +got):\n%s", d)
	}
	if d := cmp.Diff([][]string{nil, {"summary.learned"}, {"observations[0].type", "observations[0].subtitle"}}, fieldsOf(got)); d != "" {
		t.Errorf("fields (-want +got):\n%s", d)
	}
	first := got.Differ[0]
	want := Reparsed{
		Position: 5, Session: sessionOf("a"), Turn: first.Turn, Kind: events.TurnObservation,
		Recorded: Reading{Disposition: "dropped", Reason: "malformed", Class: "xml", Observations: []string{}},
		Now:      Reading{Disposition: "observations", Reason: "ok", Class: "xml", Observations: []string{"Retry budget is a setting"}},
	}
	if d := cmp.Diff(want, first); d != "" {
		t.Errorf("the first (-want +got):\n%s", d)
	}
	if one := s.reparse(Selection{Sessions: []events.SessionID{sessionOf("b")}}); one.Outputs != 2 || len(one.Differ) != 0 {
		t.Errorf("of the other session: %+v", one)
	}
}

func fieldsOf(r Reparsing) (out [][]string) {
	for _, d := range r.Differ {
		out = append(out, d.Fields)
	}
	return out
}

// TestReparseKnowsWhatItRecorded has today's grammar read every kind of output: no reading differs from its own record.
func TestReparseKnowsWhatItRecorded(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	outputs := []string{
		observed, summarized, prose, "", "<think>hm</think>", `<skip_summary reason="nothing"/>`, observed + summarized,
		observed + `<skip_summary/>`, "<observation></observation>", "<summary></summary>", "<observation><title>cut",
	}
	for _, output := range outputs {
		s.work("a", 1)
		s.stop("a")
		for s.start("a") {
			s.answer("a", output)
		}
	}
	if got := s.reparse(Selection{}); got.Outputs < 2*len(outputs) || got.Same != got.Outputs {
		t.Errorf("%d of %d outputs are read otherwise than they were a moment ago: %s", got.Outputs-got.Same, got.Outputs, shown(got.Differ))
	}
}

func TestReparseOfErased(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	for _, kind := range []events.Kind{events.KindTurnStarted, events.KindTurnReceived, events.KindObservationParsed} {
		s.work("a", 1)
		s.stop("a")
		s.mustStart("a")
		s.answer("a", observed)
		s.mustStart("a")
		s.answer("a", summarized)
		at := events.Position(0)
		for r := range s.log.All(t.Context(), 1) {
			if r.Kind == kind {
				at = r.Position
			}
		}
		if err := s.log.Erase(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.reparse(Selection{}); got.Outputs != 6 || got.Unknown != 3 || got.Same != 3 {
		t.Errorf("got %d outputs, %d unknown, %d the same; want 6, 3, 3", got.Outputs, got.Unknown, got.Same)
	}
	broken := errors.New("broken")
	if _, err := Reparse(func(yield func(events.Record, error) bool) { yield(events.Record{}, broken) }, Selection{}, nil); !errors.Is(err, broken) {
		t.Errorf("an error of the sequence: got %v", err)
	}
}

// TestReparseByTheTypesOfAnotherMode reads a type that the code mode does not have.
func TestReparseByTheTypesOfAnotherMode(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.work("a", 1)
	s.stop("a")
	s.mustStart("a")
	s.recordAs("a", "<observation><type>Motif</type><title>t</title></observation>", func(turn events.ID, a *session.Answer) {
		a.Observations = []events.ObservationParsed{{Turn: turn, Type: "motif", Title: "t"}}
	})
	for name, c := range map[string]struct {
		types observer.Types
		same  int
	}{"its own": {observer.Types{"motif"}, 1}, "the code mode's": {nil, 0}} {
		r, err := Reparse(s.log.All(t.Context(), 1), Selection{}, func(map[string]string, string) observer.Types { return c.types })
		if err != nil {
			t.Fatal(err)
		}
		if r.Same != c.same {
			t.Errorf("types are %s: %d are the same, want %d: %+v", name, r.Same, c.same, r.Differ)
		}
	}
}
