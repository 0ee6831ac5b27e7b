package projections

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// texts lists the fields of a type that may hold any text: strings, not the named types of closed sets.
func texts(t reflect.Type, path string) (fields []string) {
	switch t.Kind() {
	case reflect.String:
		if t.Name() == "string" {
			return []string{path}
		}
	case reflect.Slice, reflect.Array:
		return texts(t.Elem(), path)
	case reflect.Map:
		return append(texts(t.Key(), path+" key"), texts(t.Elem(), path)...)
	case reflect.Struct:
		if t == reflect.TypeFor[events.Output]() {
			return []string{path}
		}
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() {
				fields = append(fields, texts(f.Type, path+"."+f.Name)...)
			}
		}
	}
	return fields
}

// structure is the text that stays when a kind's words are asked to be forgotten, because it is no words of anybody: names of
// agents, projects, folders and providers, causes from a fixed few, settings, and what a crash of our own said.
func structure() map[events.Kind][]string {
	return map[events.Kind][]string{
		events.KindSessionOpened: {
			".Agent", ".AgentSession", ".Project", ".ProjectRoot", ".Cwd", ".GitRoot", ".GitBranch", ".GitHead", ".Source", ".Transcript", ".ProjectKey",
			".RootFile", ".ProjectClaim",
		},
		events.KindSessionClosed:      {".Cause"},
		events.KindContextInjected:    {".Hook"},
		events.KindTurnStarted:        {".Provider", ".Model", ".Instead"},
		events.KindReobserveRequested: {".Provider"},
		events.KindSessionRespawned:   {".Cause"},
		events.KindSessionQuarantined: {".Cause"},
		events.KindSessionReleased:    {".By"},
		events.KindProviderResumed:    {".By"},
		events.KindMemoryForgotten:    {".Cause", ".Spent.Bill.Model"},
		events.KindSessionFaulted:     {".Command", ".Cause"},
		events.KindDaemonStarted:      {".Version", ".Settings key", ".Settings"},
		events.KindDaemonStopped:      {".Cause"},
		events.KindDaemonDegraded:     {".Why"},
		events.KindProjectJoined:      {".Root", ".Key"},
		events.KindProjectParted:      {".Root"},
		events.KindProjectGiven:       {".Name", ".Root"},
		events.KindCaptureHidden:      {".Agent", ".File"},
		events.KindLogSalvaged:        {".Source"},
	}
}

// TestEveryKindWithTextIsForgettable, or each of its fields is known to be structure: a new field or kind has to choose.
func TestEveryKindWithTextIsForgettable(t *testing.T) {
	t.Parallel()
	c := events.NewCodec()
	stays := structure()
	for _, k := range allKinds(t) {
		e, err := c.Decode(k, 1, []byte{0xa0})
		if err != nil {
			t.Fatal(err)
		}
		got := texts(reflect.TypeOf(e), "")
		switch {
		case !engine.CarriesWords(k):
			if diff := cmp.Diff(stays[k], got); diff != "" {
				t.Errorf("%s keeps text when it is forgotten (-structure +text):\n%s", k, diff)
			}
		case len(got) == 0 || stays[k] != nil:
			t.Errorf("%s may be forgotten, and has nothing that must be", k)
		}
	}
}

// TestForgottenLooks: a later look at a claim is forgotten by itself or with its row, before or after a view saw it. What is
// left is as if it had never been, and a view that is made anew says the same.
func TestForgottenLooks(t *testing.T) {
	t.Parallel()
	claim := func(v events.Verdict) events.Claim {
		return events.Claim{Kind: "commit", Value: "abc1234", Verdict: v, Evidence: string(v)}
	}
	for _, c := range []struct {
		name    string
		gone    []int // of the looks: absent, verified
		row     bool
		flagged bool
	}{
		{"none", nil, false, false},
		{"the one that absolved it", []int{1}, false, true},
		{"the one that accused it", []int{0}, false, false},
		{"both", []int{0, 1}, false, false},
		{"with its row", []int{0, 1}, true, false},
	} {
		for _, first := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				s := w.open(0)
				turn := w.start(s, events.TurnObservation, w.tool(s, ""))
				id := w.id()
				made := w.say(s.Stream(), turn.id, received(turn), events.ObservationParsed{
					Observation: id, Turn: turn.id, Title: "x", Claims: []events.Claim{claim(events.Unknown)},
				})
				looks := []events.Position{
					w.say(s.Stream(), events.ID{}, events.ClaimChecked{Subject: id, Claim: claim(events.Absent)})[0].Position,
					w.say(s.Stream(), events.ID{}, events.ClaimChecked{Subject: id, Claim: claim(events.Verified)})[0].Position,
				}
				v := caughtUp(t, w)
				var gone []events.Position
				want := []events.Position{}
				for n, p := range looks {
					if slices.Contains(c.gone, n) {
						gone = append(gone, p)
					} else {
						want = append(want, p)
					}
				}
				if c.row {
					gone = append(gone, made[1].Position)
				}
				if len(gone) > 0 {
					w.forget(first, gone)
				}
				if err := v.CatchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(dump(t, caughtUp(t, w)), dump(t, v)); diff != "" {
					t.Errorf("live differs (-made anew +live):\n%s", diff)
				}
				row, err := v.Row(t.Context(), id)
				if c.row {
					if err == nil && !row.Forgotten {
						t.Errorf("the row is there: %+v", row)
					}
					return
				}
				got := []events.Position{}
				for _, look := range row.Checks {
					got = append(got, look.Position)
				}
				if err != nil || row.Flagged != c.flagged || !slices.Equal(got, want) {
					t.Errorf("flagged %v, looks at %v, %v; want %v, %v", row.Flagged, got, err, c.flagged, want)
				}
			})
		}
	}
}
