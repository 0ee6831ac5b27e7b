package events_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
)

// TestWhatIsOpenOfABill also of forms that were written before it was kept.
func TestWhatIsOpenOfABill(t *testing.T) {
	t.Parallel()
	all, some := events.Usage{Input: 100, Cached: 20, Output: 10}, events.Usage{Input: 30, Output: 3}
	for name, c := range map[string]struct {
		bill   events.Bill
		stated bool
		open   events.Usage
	}{
		"nothing stated":                        {events.Bill{Usage: all}, false, all},
		"stated, before anything else was kept": {events.Bill{Usage: all, Cost: 0.5}, true, events.Usage{}},
		"stated as nothing":                     {events.Bill{Usage: all, CostStated: true}, true, events.Usage{}},
		"stated of some":                        {events.Bill{Usage: all, Cost: 0.5, CostStated: true, Uncosted: some}, true, some},
		"stated as nothing of some":             {events.Bill{Usage: all, CostStated: true, Uncosted: some}, true, some},
		"a turn without a request":              {events.Bill{}, false, events.Usage{}},
	} {
		if c.bill.Stated() != c.stated || c.bill.UncostedUsage() != c.open {
			t.Errorf("%s: got %v, %+v, want %v, %+v", name, c.bill.Stated(), c.bill.UncostedUsage(), c.stated, c.open)
		}
	}
	if got := (events.TurnReceived{}).Bill().Calls; got != 1 {
		t.Errorf("an answer took %d requests, want 1", got)
	}
}

// TestABillComesBackFromEitherEnd of a turn, and from disk.
func TestABillComesBackFromEitherEnd(t *testing.T) {
	t.Parallel()
	codec := events.NewCodec()
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.Int64Range(0, 1<<40)
		usage := func(name string) events.Usage {
			return events.Usage{Input: count.Draw(t, name), Cached: count.Draw(t, name), Output: count.Draw(t, name)}
		}
		want := events.Bill{
			Usage: usage("usage"), Model: rapid.StringN(0, 9, 40).Draw(t, "model"), Cost: rapid.Float64Range(0, 1e6).Draw(t, "cost"),
			CostStated: rapid.Bool().Draw(t, "told"), Uncosted: usage("unstated"), Calls: rapid.IntRange(1, 9).Draw(t, "calls"), SentBytes: count.Draw(t, "sent"),
		}
		got := []events.Bill{
			decoded(t, codec, events.TurnReceived{Output: events.NewOutput("x")}.WithBill(want)).(events.TurnReceived).Bill(),
			decoded(t, codec, events.TurnFailed{Output: events.NewOutput("x")}.WithBill(want)).(events.TurnFailed).Bill(),
			decoded(t, codec, events.MemoryForgotten{Spent: []events.TurnSpent{{Bill: want}}}).(events.MemoryForgotten).Spent[0].Bill,
		}
		if diff := cmp.Diff([]events.Bill{want, want, want}, got); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	})
}

func decoded(t *rapid.T, codec *events.Codec, e events.Event) events.Event {
	b, schema, err := codec.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	back, err := codec.Decode(events.KindOf(e), schema, b)
	if err != nil {
		t.Fatal(err)
	}
	return back
}
