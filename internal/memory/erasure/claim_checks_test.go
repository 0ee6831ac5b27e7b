package erasure

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

const fullHash = "deadbeefcafe0123456789abcdef0123456789ab"

func looked(v events.Verdict, evidence string) events.Claim {
	return events.Claim{Kind: "commit", Value: "deadbeefcafe", Verdict: v, Evidence: evidence}
}

// claims is a session with one observation that names a commit, one beside it that does not, and later looks at the first.
func claims(w *world) {
	s := w.open("claims", "shop")
	said := func(title string, claims ...events.Claim) {
		turn := w.start(s, events.TurnObservation, 0, []events.Position{w.tool(s, 0, "tool of "+title)})
		w.rows[title] = w.id()
		w.say(s, turn, events.TurnReceived{Turn: turn, Output: events.NewOutput("raw " + title)}, events.ObservationParsed{
			Observation: w.rows[title], Turn: turn, Title: title, Claims: claims,
		})
	}
	said("naming", looked(events.Absent, "no such commit"))
	said("beside")
	w.now = w.now.Add(24 * time.Hour)
	w.look("claims", "naming", looked(events.Verified, fullHash))
	w.look("claims", "naming", looked(events.Absent, "no such commit"))
}

// look records a later look at a row's claim.
func (w *world) look(session, row string, c events.Claim) events.Position {
	return w.say(sessionOf(session).Stream(), events.ID{}, events.ClaimChecked{Subject: w.rows[row], Claim: c})[0]
}

// TestForgetLaterLooks: what was looked at again repeats what a row claims, and goes with it, however the row was chosen; by its
// own words it can be chosen alone.
func TestForgetLaterLooks(t *testing.T) {
	t.Parallel()
	beside := []string{"tool_used: Bash {\"command\":\"run\"} tool of beside", "turn_received: raw beside", "observation_parsed: beside"}
	naming := []string{
		"tool_used: Bash {\"command\":\"run\"} tool of naming", "turn_received: raw naming", "observation_parsed: naming",
	}
	looks := []string{"claim_checked: deadbeefcafe " + fullHash, "claim_checked: deadbeefcafe no such commit"}
	for name, tc := range map[string]struct {
		req  func(w *world) Request
		left []string
	}{
		"by its id":      {func(w *world) Request { return Request{IDs: []events.ID{w.rows["naming"]}} }, beside},
		"by its input":   {func(*world) Request { return Request{Query: "tool of naming"} }, beside},
		"by the hash":    {func(*world) Request { return Request{Query: "DEADBEEFCAFE"} }, slices.Concat(naming[:1], beside)},
		"by a look":      {func(*world) Request { return Request{Query: fullHash} }, slices.Concat(naming, beside, looks[1:])},
		"by the session": {func(*world) Request { return Request{Session: sessionOf("claims"), Named: "claims"} }, nil},
		"by the session, up to before the looks": {
			func(w *world) Request { return Request{Session: sessionOf("claims"), Named: "claims", Through: 5} }, beside,
		},
		"by the time of the looks": { // they go with the row, which is older
			func(w *world) Request { return Request{Since: epoch.Add(23 * time.Hour)} }, slices.Concat(naming, beside, looks),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			claims(w)
			w.caughtUp()
			plan, err := w.Plan(t.Context(), tc.req(w))
			if err != nil {
				t.Fatal(err)
			}
			done := w.forget(tc.req(w))
			if diff := cmp.Diff(tc.left, w.left()); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
			if plan.Records != done.Records {
				t.Errorf("planned %d, done %d", plan.Records, done.Records)
			}
			w.verify()
			w.caughtUp()
			row, err := w.views.Row(t.Context(), w.rows["naming"])
			kept := strings.Count(strings.Join(tc.left, "\n"), "claim_checked")
			if err != nil || len(row.Checks) != kept {
				t.Errorf("the row has %+v, %v, want %d of them", row.Checks, err, kept)
			}
		})
	}
}

// TestFinishLaterLooks: a look that was recorded when its row was gone already, and one that was left behind by what knew
// nothing of looks, are erased by the next life.
func TestFinishLaterLooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claims(w)
	w.forget(Request{IDs: []events.ID{w.rows["naming"]}})
	if err := w.eraser(0).finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.look("claims", "naming", looked(events.Absent, "late"))
	if left := strings.Join(w.left(), "\n"); !strings.Contains(left, "deadbeef") {
		t.Fatalf("left:\n%s", left)
	}
	w.caughtUp()
	w.purged.Store(0)
	for range 2 {
		if err := w.eraser(0).finish(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if left := strings.Join(w.left(), "\n"); strings.Contains(left, "deadbeef") || w.purged.Load() != 1 {
		t.Errorf("made anew %d times; left:\n%s", w.purged.Load(), left)
	}
	w.verify()
}

// TestFinishWhatWasNotKnown: a log that was looked at by what knew of fewer kinds is looked at whole once more.
func TestFinishWhatWasNotKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claims(w)
	s := sessionOf("claims").Stream()
	var row events.Position
	for r, err := range w.log.Stream(t.Context(), s, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if e, err := r.Event(); err == nil && r.Kind == events.KindObservationParsed && e.(events.ObservationParsed).Title == "naming" {
			row = r.Position
		}
	}
	w.say(s, events.ID{}, events.MemoryForgotten{Positions: []events.Position{row}, IDs: []events.ID{w.rows["naming"]}, Cause: CausePerson})
	if err := w.log.Erase(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	w.say(s, events.ID{}, events.SessionClosed{Cause: "end"})
	last, err := w.log.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.log.Get(t.Context(), last)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Eraser.state.change(func(s *state) { *s = state{Scanned: last, Chain: r.Chain} }); err != nil {
		t.Fatal(err)
	}
	w.caughtUp()
	if err := w.eraser(0).finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := strings.Join(w.left(), "\n"); strings.Contains(left, "claim_checked") {
		t.Errorf("left:\n%s", left)
	}
}

// unsaid is the text of forgettable kinds that is not looked at for a query: names, paths and forms around what was said.
func unsaid() map[events.Kind][]string {
	return map[events.Kind][]string{
		events.KindPromptSubmitted:  {"Redactions"},
		events.KindToolUsed:         {"ToolUseID", "Cwd", "SubagentID", "SubagentType", "Redactions", "Unobserved", "Named"},
		events.KindAgentStopped:     {"Error", "Redactions"},
		events.KindContextCompacted: {"Trigger", "Redactions"},
		events.KindAgentSaid:        {"Redactions"},
		events.KindPreferenceStated: {"ToolUseID"},
		events.KindTurnReceived:     {"StopReason", "Model"},
		events.KindTurnFailed:       {"Provider", "Model"},
		events.KindOutputDropped:    {"Class", "Reason"},
		events.KindOutputSkipped:    {"Reason"},
		events.KindObservationParsed: {
			"Type", "Source", // of a fixed few
		},
		events.KindSummaryParsed: {"Source"},
		events.KindMemorySaved:   {"ProjectRoot"},
	}
}

// TestSaidInMissesNothing: each field of text of a kind that may be forgotten is looked at, or known to be no words.
func TestSaidInMissesNothing(t *testing.T) {
	t.Parallel()
	c := events.NewCodec()
	forgettable := 0
	for _, kind := range kindsOf(t) {
		if kind != events.KindOutputSkipped && !engine.Forgettable(events.Record{Header: events.Header{Kind: kind}}) {
			continue
		}
		forgettable++
		zero, err := c.Decode(kind, 1, []byte{0xa0})
		if err != nil {
			t.Fatal(err)
		}
		known := unsaid()[kind]
		var missed []string
		typ := reflect.TypeOf(zero)
		for i := range typ.NumField() {
			e := reflect.New(typ).Elem()
			if !fill(e.Field(i)) {
				continue
			}
			if !newWords("marker").in(e.Interface().(events.Event)) {
				missed = append(missed, typ.Field(i).Name)
			}
		}
		if diff := cmp.Diff(known, missed); diff != "" {
			t.Errorf("%s (-known +missed):\n%s", kind, diff)
		}
	}
	if forgettable != 14 {
		t.Errorf("%d kinds may be forgotten, want 14", forgettable)
	}
}

// kindsOf reads all kinds out of the source that lists them.
func kindsOf(t *testing.T) (kinds []events.Kind) {
	t.Helper()
	b, err := os.ReadFile("../../../events/kinds.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\tKind\w+ +Kind = "(\w+)"$`).FindAllSubmatch(b, -1) {
		kinds = append(kinds, events.Kind(m[1]))
	}
	return kinds
}

// fill puts a marker into all text of v, and reports whether there was any.
func fill(v reflect.Value) (any bool) {
	if v.Type() == reflect.TypeFor[events.Output]() {
		v.Set(reflect.ValueOf(events.NewOutput("marker")))
		return true
	}
	switch v.Kind() {
	case reflect.String:
		if any = v.Type().Name() == "string"; any {
			v.SetString("marker")
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		any = fill(v.Index(0))
	case reflect.Map:
		key := reflect.New(v.Type().Key()).Elem()
		if any = fill(key); any {
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(key, reflect.New(v.Type().Elem()).Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				any = fill(v.Field(i)) || any
			}
		}
	}
	return any
}
