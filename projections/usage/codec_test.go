package usage

import (
	"cmp"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/turn"
)

func TestUsageKeysComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, number := rapid.StringN(0, 9, 40), rapid.Int64()
		k := cellKey{
			quarter: rapid.Int64Range(0, 1<<40).Draw(t, "quarter"), session: events.SessionIDOf("claude-code", fmt.Sprint(rapid.Int().Draw(t, "session"))),
			result: rapid.SampledFrom([]turn.Result{"", turn.Kept, turn.Skipped, turn.Dropped, turn.Failed}).Draw(t, "result"),
			probe:  rapid.Bool().Draw(t, "probe"), failure: text.Draw(t, "failure"), by: answerer{text.Draw(t, "provider"), text.Draw(t, "model"), text.Draw(t, "wanted")},
		}
		turn, back := turnCount{key: k, asked: text.Draw(t, "asked"), captured: number.Draw(t, "captured"), left: rapid.Bool().Draw(t, "left")}, turnCount{}
		for _, n := range turn.count.numbers() {
			*n = number.Draw(t, "number")
		}
		b, err := turn.AppendBinary(nil)
		if err = cmp.Or(err, back.UnmarshalBinary(b)); err != nil || back != turn {
			t.Fatalf("got %+v, %v, want %+v", back, err, turn)
		}
		for n := range b {
			if back.UnmarshalBinary(b[:n]) == nil {
				t.Fatalf("%d of %d bytes were enough", n, len(b))
			}
		}
		if back.UnmarshalBinary(append(b, 0)) == nil {
			t.Fatal("a byte too many was taken")
		}
	})
}

func FuzzUsageKeys(f *testing.F) {
	f.Add(cellKey{quarter: 5, result: turn.Failed, failure: "limit", by: answerer{"openai", "x", "y"}}.bytes())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var turn turnCount
		var key cellKey
		var session sumKey
		_, _ = turn.UnmarshalBinary(b), showUsageCell(b)
		if key.parse(b) == nil && key.parse(key.bytes()) != nil {
			t.Errorf("%x does not come back", b)
		}
		if session.parse(b) == nil && session.parse(session.bytes()) != nil {
			t.Errorf("%x does not come back as a session's", b)
		}
	})
}
