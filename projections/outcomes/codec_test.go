package outcomes

import (
	"cmp"
	"fmt"
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
	filled.RoundTrips(t, c.Encode, c.Decode, balance{}, decider{})
}

func TestInputForm(t *testing.T) {
	t.Parallel()
	c := engine.NewCodec()
	rapid.Check(t, func(t *rapid.T) {
		in := input{
			session: events.SessionID{1: byte(rapid.Byte().Draw(t, "session"))}, at: rapid.Int64().Draw(t, "at"),
			previous: events.Position(rapid.Uint64().Draw(t, "previous")), turn: events.ID{3: rapid.Byte().Draw(t, "turn")},
			outcome: session.Outcome(rapid.IntRange(0, int(session.Forgotten)).Draw(t, "outcome")), kind: byte(rapid.IntRange(0, inputKinds-1).Draw(t, "kind")),
			asks: session.Answers(rapid.Byte().Draw(t, "asks")), again: events.ID{5: rapid.Byte().Draw(t, "again")},
			asked: rapid.Bool().Draw(t, "asked"), givenUp: rapid.Bool().Draw(t, "given up"), reason: rapid.String().Draw(t, "reason"),
		}
		var out input
		raw, err := c.Encode(&in)
		if err := cmp.Or(err, c.Decode(raw, &out)); err != nil || out != in {
			t.Fatalf("got %+v, %v, want %+v", out, err, in)
		}
	})
}

func FuzzStored(f *testing.F) {
	c := engine.NewCodec()
	raw, _ := c.Encode(&input{reason: "x"})
	f.Add(raw)
	raw, _ = c.Encode(&input{again: events.ID{1}})
	f.Add(raw)
	f.Add(raw[:len(raw)-1])
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, v := range []any{&input{}} {
			_ = c.Decode(raw, v) // an error or not: it must not panic
		}
	})
}

// TestInputFormStays holds the bytes on disk to those of an earlier program.
func TestInputFormStays(t *testing.T) {
	t.Parallel()
	in := input{
		session: events.SessionID{1, 2}, at: -5, previous: 77, turn: events.ID{3: 9}, outcome: session.Dropped, kind: 2, asks: 7,
		asked: true, givenUp: true, again: events.ID{5: 8}, reason: "expired",
	}
	const want = "01020000000000000000000000000000fffffffffffffffb000000000000004d00000009000000000000000000000000030207070000000000080000000000000000000065787069726564"
	raw, err := engine.NewCodec().Encode(&in)
	if got := fmt.Sprintf("%x", raw); err != nil || got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
