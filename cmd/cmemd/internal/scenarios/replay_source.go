package scenarios

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/offline"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/api"
)

// withMeter is records with a meter that counts them. The line is clear when the sequence is left.
func withMeter(ctx context.Context, a *terminal.App, log offline.Source, what string) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		total := uint64(0)
		if st, err := api.LogStatsRoute.Call(ctx, log, api.NoQuery{}); err == nil {
			total = uint64(st.Records)
		}
		m := a.Meter(what, int64(total), false)
		defer m.End()
		for r, err := range offline.Records(ctx, log) {
			if err == nil && uint64(r.Position)%recordsPerUpdate == 0 {
				m.Set(uint64(r.Position), max(total, uint64(r.Position)))
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// recordsPerUpdate is how many records go by between two looks at the meter.
const recordsPerUpdate = 1024

// sessionsNamed finds the sessions that people name: by our id, 8 digits or more of its beginning, or the agent's own id.
func sessionsNamed(ctx context.Context, a *terminal.App, log offline.Source, names []string) ([]events.SessionID, error) {
	if len(names) == 0 {
		return nil, nil
	}
	seen := map[events.StreamID]bool{}
	for r, err := range withMeter(ctx, a, log, "looking for the session") {
		if err != nil {
			return nil, err
		}
		seen[r.Stream] = true
	}
	var known []events.SessionID
	for stream := range seen {
		if id, ok := stream.Session(); ok {
			known = append(known, id)
		}
	}
	var found []events.SessionID
	for _, name := range names {
		id, err := sessionNamed(name, known)
		if err != nil {
			return nil, err
		}
		found = append(found, id)
	}
	return found, nil
}

// shortestSession is how many digits of a session's id are enough.
const shortestSession = 8

// sessionNamed returns the one of known that name means.
func sessionNamed(name string, known []events.SessionID) (events.SessionID, error) {
	for _, agent := range agents.Names() {
		if id := events.SessionIDOf(agent, name); slices.Contains(known, id) {
			return id, nil
		}
	}
	digits := strings.ToLower(strings.ReplaceAll(name, "-", ""))
	var begins []events.SessionID
	for _, id := range known {
		if len(digits) >= shortestSession && strings.HasPrefix(strings.ReplaceAll(id.String(), "-", ""), digits) {
			begins = append(begins, id)
		}
	}
	switch len(begins) {
	case 1:
		return begins[0], nil
	case 0:
		return events.SessionID{}, fmt.Errorf("%w: there is no session of the id %q, ours or an agent's", terminal.ErrNothing, name)
	}
	return events.SessionID{}, terminal.Advise(fmt.Errorf("%d sessions begin with %q", len(begins), name), "give more of the id")
}
