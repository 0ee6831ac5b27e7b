package provider

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// yieldPool plays answers to a Pool of one provider.
type yieldPool struct {
	*Pool
	now time.Time
}

func newYieldPool(free bool) *yieldPool {
	p := &yieldPool{now: time.Unix(100_000, 0).UTC()}
	limits := Limits{Pauses: policy.Backoff{First: time.Minute, Cap: time.Hour}, NoYield: &policy.NoYield{Max: 3, Window: time.Hour}}
	routes := Routes{Providers: []Candidate{{Provider: "p", Free: free}}}
	p.Pool = NewPool(Config{Routes: routes, Slots: 2, Limits: limits}, map[string]*State{"p": {}}, p.now)
	return p
}

// answer has a session be granted a lease and answered, and applies the ruling; granted is false where it has to wait.
func (p *yieldPool) answer(u Use, parsed bool) (ruling events.Event, granted bool) {
	p.Enqueue(Request{Holder: "h"})
	if _, ok := p.Next(p.now); !ok {
		p.release("h")
		return nil, false
	}
	r, ok := p.End(End{Holder: "h", Received: true, Use: u, Parsed: parsed, Spend: Spend{At: p.now}}, p.now)
	if ok {
		p.Evolve(r, events.Header{OccurredAt: p.now})
	}
	return r.Event, true
}

// TestNoYield: which answers in a row pause a provider, and what resumes it. d is a dropped answer, k a kept one, s a skip in
// so many words, b a blank one; a capital letter says that a pause or a resumption follows; + is an hour and a second, . a
// minute; x is a session that has to wait.
func TestNoYield(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		played string
		free   bool
	}{
		"as many as it takes":                     {played: "ddD"},
		"a kept one ends the row":                 {played: "ddkddD"},
		"skips and blank ones do not":             {played: "dsbdsbbD"},
		"skips and blank ones alone":              {played: "sbsbsbsbsbsbsb"},
		"no more than the window":                 {played: "d+ddD"},
		"nobody is asked while it rests":          {played: "ddDx"},
		"a probe that is dropped again":           {played: "ddD.Dx.x.Dx"},
		"a probe that is kept":                    {played: "ddD.KddD"},
		"a blank probe leaves it half open":       {played: "ddD.bbD"},
		"a skip in so many words resumes":         {played: "ddD.SddD"},
		"long after, a probe is dropped":          {played: "ddD++Dx"},
		"what costs nothing":                      {played: "dddddddd", free: true},
		"a pause twice as long after each in row": {played: "ddD.D..D...xxx.D"},
	} {
		p := newYieldPool(c.free)
		for i, op := range c.played {
			var got events.Event
			granted := true
			switch op {
			case '+':
				p.now = p.now.Add(time.Hour + time.Second)
			case '.':
				p.now = p.now.Add(time.Minute)
			case 'd', 'D', 'x':
				got, granted = p.answer(UseDropped, false)
			case 'k', 'K':
				got, _ = p.answer(UseKept, true)
			case 's', 'S':
				got, _ = p.answer(UseNone, true)
			case 'b':
				got, _ = p.answer(UseNone, false)
			}
			if ruled := op == 'D' || op == 'K' || op == 'S'; ruled != (got != nil) || granted != (op != 'x') {
				t.Fatalf("%s: %s, at %d: got %+v, granted %v", name, c.played, i, got, granted)
			}
		}
	}
}

// TestNoYieldIsOnRecord: a pause says what was counted, and by which limits.
func TestNoYieldIsOnRecord(t *testing.T) {
	t.Parallel()
	p := newYieldPool(false)
	p.answer(UseDropped, false)
	p.answer(UseDropped, false)
	got, _ := p.answer(UseDropped, false)
	want := events.ProviderPaused{
		Class: events.FailNoYield, Probe: 1, Until: p.now.Add(time.Minute),
		Limits: events.Limits{Unparseable: 3, Window: time.Hour}, Counted: events.Counted{Unparseable: 3},
	}
	if d := cmp.Diff(events.Event(want), got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestNoYieldOutlivesTheDaemon: the next life counts on from the end of the log, so that a restart grants no new attempts.
func TestNoYieldOutlivesTheDaemon(t *testing.T) {
	t.Parallel()
	states := map[string]*State{"p": {}, "other": {}}
	x, position := NewRecovery(states), events.Position(0)
	play := func(turn byte, provider string, more ...events.Event) {
		id := events.ID{turn}
		for _, e := range append([]events.Event{events.TurnStarted{Provider: provider}}, more...) {
			position++
			x.Evolve(events.Header{Position: position, Kind: events.KindOf(e), Correlation: id, RecordedAt: time.Unix(int64(position), 0)}, e)
		}
	}
	dropped, blank := events.OutputDropped{Class: "prose"}, events.OutputDropped{Class: "idle"}
	play(1, "p", events.TurnReceived{}, dropped)
	play(2, "p", events.TurnReceived{}, events.ObservationParsed{})
	play(3, "p", events.TurnReceived{}, dropped)
	play(4, "other", events.TurnReceived{}, events.ObservationParsed{})
	play(5, "p", events.TurnReceived{}, blank)
	play(6, "p", events.TurnReceived{}, events.OutputSkipped{Reason: events.ReasonEmpty})
	play(7, "p", events.TurnReceived{}, dropped)
	want := []time.Time{time.Unix(9, 0), time.Unix(21, 0)}
	if d := cmp.Diff(want, states["p"].UnusableAt); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	x.Evolve(events.Header{Position: 99, Kind: events.KindProviderResumed, Stream: events.ProviderStream("p")}, nil)
	if n := len(states["p"].UnusableAt); n > 0 {
		t.Errorf("after it was resumed: %d are counted", n)
	}
}
