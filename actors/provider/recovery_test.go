package provider

import (
	"testing"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// TestRecoveryCountsRows: how many turns in a row the end of a log tells to have failed by their own fault.
func TestRecoveryCountsRows(t *testing.T) {
	t.Parallel()
	const refused, answered, resumed, unknown = "refused", "answered", "resumed", "unknown"
	var (
		open    = policy.Pause{Blamed: 5} // as a stream tells that has seen more than one pause
		limited = policy.Pause{Class: events.FailLimit, Probe: 2, Blamed: 5}
		blaming = policy.Pause{Class: events.FailRefused, Probe: 2, Blamed: 5}
	)
	for name, c := range map[string]struct {
		pause policy.Pause
		log   []string
		want  int
	}{
		"nothing is read":                         {open, nil, 0},
		"nothing behind another pause":            {limited, nil, 0},
		"nothing behind a pause for refused ones": {blaming, nil, policy.BlamesToPause},
		"what was read of them counts once":       {blaming, []string{refused, refused, refused, refused}, 4},
		"an answer behind them":                   {blaming, []string{answered, refused}, 1},
		"an answer by nobody knows whom":          {blaming, []string{unknown}, 0},
		"two refused":                             {open, []string{refused, refused}, 2},
		"a resumption between":                    {open, []string{refused, refused, resumed, refused}, 1},
	} {
		s := &State{Pause: c.pause}
		x := NewRecovery(map[string]*State{"p": s})
		for i, what := range c.log {
			turn := events.ID{byte(i + 1)}
			h := events.Header{Position: events.Position(2*i + 2), Correlation: turn, Kind: events.KindTurnStarted}
			if what == refused || what == answered {
				x.Evolve(h, events.TurnStarted{Turn: turn, Provider: "p"})
			}
			h.Position++
			switch what {
			case refused:
				h.Kind = events.KindTurnFailed
				x.Evolve(h, events.TurnFailed{Turn: turn, Provider: "p", Class: events.FailRefused})
			case resumed:
				h.Kind, h.Stream = events.KindProviderResumed, events.ProviderStream("p")
				x.Evolve(h, nil)
			default:
				h.Kind = events.KindTurnReceived
				x.Evolve(h, nil)
			}
		}
		if got := s.Pause.Blamed; got != c.want {
			t.Errorf("%s: %d in a row, want %d", name, got, c.want)
		}
	}
}
