package usage

import (
	"cmp"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/turn"
)

func TestUsageKeysComeBack(t *testing.T) {
	t.Parallel()
	c := engine.NewCodec()
	rapid.Check(t, func(t *rapid.T) {
		text, number := rapid.StringN(0, 9, 40), rapid.Int64()
		k := cellKey{
			quarter: rapid.Int64Range(0, 1<<40).Draw(t, "quarter"), session: events.SessionIDOf("claude-code", fmt.Sprint(rapid.Int().Draw(t, "session"))),
			result: rapid.SampledFrom([]turn.Result{"", turn.Kept, turn.Skipped, turn.Dropped, turn.Failed}).Draw(t, "result"),
			probe:  rapid.Bool().Draw(t, "probe"), failure: text.Draw(t, "failure"), by: answerer{text.Draw(t, "provider"), text.Draw(t, "model"), text.Draw(t, "wanted")},
		}
		turn, back := turnCount{key: k, asked: text.Draw(t, "asked"), captured: number.Draw(t, "captured"), restated: rapid.Bool().Draw(t, "left")}, turnCount{}
		for _, n := range turn.count.numbers() {
			*n = number.Draw(t, "number")
		}
		b, err := c.Encode(&turn)
		if err := cmp.Or(err, c.Decode(b, &back)); err != nil || back != turn {
			t.Fatalf("got %+v, %v, want %+v", back, err, turn)
		}
		for n := range b {
			if c.Decode(b[:n], &turnCount{}) == nil {
				t.Fatalf("%d of %d bytes were enough", n, len(b))
			}
		}
		if c.Decode(append(b, 0), &turnCount{}) == nil {
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
		_, _ = engine.NewCodec().Decode(b, &turn), showCell(b)
		if key.parse(b) == nil && key.parse(key.bytes()) != nil {
			t.Errorf("%x does not come back", b)
		}
	})
}

// TestFormsStay holds the bytes on disk to those of an earlier program.
func TestFormsStay(t *testing.T) {
	t.Parallel()
	k := cellKey{quarter: 1950000, session: events.SessionID{1, 2}, result: turn.Failed, probe: true, failure: "limit", by: answerer{"openai", "x", "y"}}
	c := turnCount{key: k, asked: "y", captured: 900, restated: true, count: Count{
		Turns: 1, Again: 1, Calls: 2, PromptBytes: 70000, Input: -3, Cached: 4, Output: 5, Unmetered: 6, Stated: 7,
		Unstated: events.Usage{Input: 8, Cached: 9, Output: 10},
	}}
	const cell = "00000000001dc130010200000000000000000000000000000104056c696d6974066f70656e616901780179"
	raw, err := engine.NewCodec().Encode(&c)
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{
		fmt.Sprintf("%x", raw):       "0202e0c50805080a0c040e10121401880e0179" + cell,
		fmt.Sprintf("%x", k.bytes()): cell,
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
