package projections

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/testkit/filled"
)

// TestStoredFormsAreWhole fills every field of every stored value and reads it back: a field that the stored form
// forgets would come back empty.
func TestStoredFormsAreWhole(t *testing.T) {
	t.Parallel()
	c := engine.NewCodec()
	for _, v := range []any{Row{}, Session{}, Turn{}, Touch{}, Injection{}, balance{}, decider{}, rowTurn{}, rowInput{}, engine.Facts{}} {
		in := reflect.New(reflect.TypeOf(v))
		filled.Fill(in.Interface())
		raw, err := c.Encode(in.Elem().Interface())
		if err != nil {
			t.Fatal(err)
		}
		out := reflect.New(reflect.TypeOf(v))
		if err := c.Decode(raw, out.Interface()); err != nil {
			t.Fatal(err)
		}
		if s, ok := in.Interface().(*Session); ok { // filled in when read
			s.Title, s.Pending, s.Inputs = "", 0, Balance{}
		}
		if diff := cmp.Diff(in.Elem().Interface(), out.Elem().Interface()); diff != "" {
			t.Errorf("%T (-stored +read):\n%s", v, diff)
		}
	}
}

func TestInputForm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := input{
			session: events.SessionID{1: byte(rapid.Byte().Draw(t, "session"))}, at: rapid.Int64().Draw(t, "at"),
			previous: events.Position(rapid.Uint64().Draw(t, "previous")), turn: events.ID{3: rapid.Byte().Draw(t, "turn")},
			outcome: session.Outcome(rapid.IntRange(0, int(session.Forgotten)).Draw(t, "outcome")), kind: byte(rapid.IntRange(0, inputKinds-1).Draw(t, "kind")),
			asks: session.Answers(rapid.Byte().Draw(t, "asks")), again: events.ID{5: rapid.Byte().Draw(t, "again")},
			asked: rapid.Bool().Draw(t, "asked"), givenUp: rapid.Bool().Draw(t, "given up"), reason: rapid.String().Draw(t, "reason"),
		}
		raw, err := in.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		var out input
		if err := out.UnmarshalBinary(raw); err != nil || out != in {
			t.Fatalf("got %+v, %v, want %+v", out, err, in)
		}
	})
}

func TestTimeOrder(t *testing.T) {
	t.Parallel()
	times := []time.Time{{}, time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(-1, 0), time.Unix(0, 0), time.Unix(0, 1), epoch, time.Date(2900, 1, 1, 0, 0, 0, 0, time.UTC)}
	for i := 1; i < len(times); i++ {
		if a, b := engine.TimeBits(times[i-1]), engine.TimeBits(times[i]); a > b {
			t.Errorf("%v comes after %v", times[i-1], times[i])
		}
	}
	if !bytes.Equal(engine.TimeKey(engine.ProjectID{}, time.Time{}, 1), engine.TimeKey(engine.ProjectID{}, times[1], 1)) {
		t.Error("times before all others differ")
	}
}

func FuzzStored(f *testing.F) {
	c := engine.NewCodec()
	raw, _ := c.Encode(Row{Title: "x", Turns: []events.ID{{1}}})
	f.Add(raw)
	raw, _ = input{reason: "x"}.AppendBinary(nil)
	f.Add(raw)
	raw, _ = input{again: events.ID{1}}.AppendBinary(nil)
	f.Add(raw)
	f.Add(raw[:len(raw)-1])
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, v := range []any{&Row{}, &Session{}, &Turn{}, &input{}, new(engine.Ref), &fileRef{}} {
			_ = c.Decode(raw, v) // an error or not: it must not panic
		}
	})
}

func TestKnownKinds(t *testing.T) {
	t.Parallel()
	c := events.NewCodec()
	for _, k := range []events.Kind{"session_dreamt", ""} {
		if engine.Known(k) {
			t.Errorf("%q is known", k)
		}
	}
	for _, k := range allKinds(t) {
		if _, err := c.Decode(k, 1, []byte{0xa0}); err != nil {
			t.Errorf("%s: %v", k, err)
		}
		if !engine.Known(k) {
			t.Errorf("%s is not known", k)
		}
	}
}
