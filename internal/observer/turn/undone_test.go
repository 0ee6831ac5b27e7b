package turn_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/turn"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// swap is an edit of /p/shelf.go.
func swap(before, after string) events.ToolUsed {
	return events.ToolUsed{Tool: "Edit", Cwd: "/p", Input: fmt.Sprintf(`{"file_path":"/p/shelf.go","old_string":%q,"new_string":%q}`, before, after)}
}

func read() events.ToolUsed {
	return events.ToolUsed{Tool: "Read", Cwd: "/p", Input: `{"file_path":"/p/shelf.go"}`}
}

// TestWhatATurnUndid: of what was observed before, the work of which the turn takes the last out; nothing that stands, was found out, or was
// undone by somebody before.
func TestWhatATurnUndid(t *testing.T) {
	t.Parallel()
	id := func(n byte) events.ID { return events.ID{n} }
	for name, c := range map[string]struct {
		before events.ToolUsed
		told   events.ObservationParsed
		now    []events.Event
		undone int // which of now; 0: none
	}{
		"the name is gone":              {swap("x", "sortByWidth(x)"), events.ObservationParsed{Type: "change", Title: "Uses `sortByWidth`"}, []events.Event{read(), swap("sortByWidth(x)", "sortByHeight(x)")}, 2},
		"the name stands":               {swap("x", "sortByWidth(x)"), events.ObservationParsed{Type: "change", Title: "Uses `sortByWidth`"}, []events.Event{swap("y", "z()")}, 0},
		"all that it wrote is gone":     {swap("x", "sortByWidth(x)"), events.ObservationParsed{Type: "feature", Title: "The shelf is in order"}, []events.Event{swap("sortByWidth(x)", "x")}, 1},
		"a decision that names nothing": {swap("x", "sortByWidth(x)"), events.ObservationParsed{Type: "decision", Title: "Order is kept"}, []events.Event{swap("sortByWidth(x)", "x")}, 0},
		"what was found out":            {swap("x", "sortByWidth(x)"), events.ObservationParsed{Type: "discovery", Title: "`sortByWidth` is slow"}, []events.Event{swap("sortByWidth(x)", "x")}, 0},
		"nothing is changed":            {swap("x", "sortByWidth(x)"), events.ObservationParsed{Type: "change", Title: "Uses `sortByWidth`"}, []events.Event{read()}, 0},
		"a payload is gone":             {events.ToolUsed{}, events.ObservationParsed{Type: "change", Title: "Uses `sortByWidth`"}, []events.Event{swap("sortByWidth(x)", "x")}, 0},
	} {
		c.told.Observation, c.told.FilesModified = id(9), []string{"/p/shelf.go"}
		log, at := logged(t, append([]events.Event{c.before, c.told}, c.now...)...)
		r := turn.Request{
			Turn: id(1), Work: session.Work{Kind: events.TurnObservation, Settles: at[2:], Attempt: 1}, Origin: session.Origin{Cwd: "/p"},
			Earlier: []session.Sized{{Position: at[0]}}, Observed: []session.ObservedInputs{{At: at[1], First: at[0], Last: at[0]}},
		}
		p := turn.New(turn.Config{Log: log})
		prompt, err := p.Load(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		var want []events.Undone
		if c.undone > 0 {
			want = []events.Undone{{Observation: id(9), At: at[1], By: at[1+c.undone], How: events.UndoneRewritten}}
		}
		if d := cmp.Diff(want, prompt.Undone); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestCallsAreReadOnce: whoever asks of an input what its tool call did is given what was read as the turn was loaded.
func TestCallsAreReadOnce(t *testing.T) {
	t.Parallel()
	log, at := logged(t, read(), events.ContextCompacted{Summary: "s"})
	r := turn.Request{Work: session.Work{Kind: events.TurnObservation, Settles: at, Attempt: 1}}
	prompt, err := turn.New(turn.Config{Log: log}).Load(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if call := prompt.Inputs[0].Call(); call == nil || call != prompt.Inputs[0].Call() {
		t.Error("a call is read again")
	}
	if call := prompt.Inputs[1].Call(); call != nil {
		t.Errorf("a compaction is a call: %v", call)
	}
}

// TestObservedAgainWhatWasUndone: whoever observes work anew that was undone since is told so, whatever the output is.
func TestObservedAgainWhatWasUndone(t *testing.T) {
	t.Parallel()
	log, at := logged(t, swap("x", "sortByWidth(x)"), swap("sortByWidth(x)", "x"))
	p := turn.New(turn.Config{Log: log})
	prompt, err := p.Load(t.Context(), turn.Request{
		Turn: events.ID{1}, Work: session.Work{Kind: events.TurnObservation, Settles: at[:1], Attempt: 2}, Later: at[1:],
	})
	if err != nil {
		t.Fatal(err)
	}
	reply := observer.Reply{Form: events.FormXML, Text: events.NewOutput("<observation><type>change</type><title>Uses sortByWidth</title></observation>")}
	got, err := p.Result(t.Context(), providertest.NewScripted(), observer.CodeMode().TypeIDs(), prompt, reply, nil)
	if err != nil {
		t.Fatal(err)
	}
	if u := got.Answer.Undone; u == nil || len(u.Rows) != 1 || u.Rows[0].By != at[1] || u.Rows[0].Observation != got.Answer.Observations[0].Observation {
		t.Errorf("got %+v", u)
	}
}
