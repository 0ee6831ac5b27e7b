package outcomes

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/testkit/filled"
)

func TestStoredFormsOfOutcomesAreWhole(t *testing.T) {
	t.Parallel()
	c := engine.NewCodec()
	filled.ComesBack(t, c.Encode, c.Decode, balance{}, decider{})
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

func FuzzStored(f *testing.F) {
	raw, _ := input{reason: "x"}.AppendBinary(nil)
	f.Add(raw)
	raw, _ = input{again: events.ID{1}}.AppendBinary(nil)
	f.Add(raw)
	f.Add(raw[:len(raw)-1])
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, v := range []any{&input{}} {
			_ = engine.NewCodec().Decode(raw, v) // an error or not: it must not panic
		}
	})
}
