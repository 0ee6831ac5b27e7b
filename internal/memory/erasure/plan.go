package erasure

import (
	"context"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

const (
	// maxSample and maxStays are how many records a Plan shows of what goes, and of what stays beside it.
	maxSample = 20
	maxStays  = 10

	// maxLineRunes is how much of a record one line shows, in runes.
	maxLineRunes = 100
)

func (c *choice) plan(ctx context.Context) (Plan, error) {
	shares, stays, err := c.shares(ctx)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Position: c.through, Kinds: map[events.Kind]int{}, Sessions: shares, Kept: len(stays), Unfinished: c.e.state.get().unfinished()}
	if p.Sessions == nil {
		p.Sessions = []Share{}
	}
	for _, sh := range shares {
		p.Records += sh.Records
		p.Bytes += sh.Bytes
		for kind, n := range sh.Kinds {
			p.Kinds[kind] += n
		}
	}
	if p.Sample, err = c.sample(ctx, shares); err != nil {
		return Plan{}, err
	}
	p.Stays, err = c.samples(ctx, stays[:min(len(stays), maxStays)])
	return p, err
}

// sample shows memory first, half of the lines at most, then what it was made of.
func (c *choice) sample(ctx context.Context, shares []Share) ([]Sample, error) {
	var rows, rest []events.Position
	for _, sh := range shares {
		for _, p := range sh.Positions {
			if len(rows) >= maxSample && len(rest) >= maxSample {
				break
			}
			r, err := c.e.cfg.Log.Get(ctx, p)
			if err != nil {
				return nil, err
			}
			switch r.Kind {
			case events.KindObservationParsed, events.KindSummaryParsed, events.KindMemorySaved, events.KindPreferenceStated:
				rows = append(rows, p)
			case events.KindTurnReceived, events.KindOutputSkipped: // a person knows them by what came of them
			default:
				rest = append(rest, p)
			}
		}
	}
	n := min(len(rest), max(maxSample/2, maxSample-len(rows)))
	m := min(len(rows), maxSample-n)
	return c.samples(ctx, slices.Concat(rows[:m], rest[:n]))
}

func (c *choice) samples(ctx context.Context, at []events.Position) ([]Sample, error) {
	list := []Sample{}
	for _, p := range at {
		r, err := c.e.cfg.Log.Get(ctx, p)
		if err != nil {
			return nil, err
		}
		e, err := said(r)
		if err != nil {
			return nil, err
		}
		if e == nil {
			continue
		}
		one := Sample{Position: p, Kind: r.Kind, At: r.OccurredAt, Text: line(e)}
		if one.ID, err = rowID(r); err != nil {
			return nil, err
		}
		if one.ID != (events.ID{}) {
			one.Handle = rows.Handle{Machine: c.e.cfg.Views.Machine(r.Place().Log), At: r.Place().Position}
		}
		list = append(list, one)
	}
	return list, nil
}

// rowID is the id of the row that a record made; zero: it made none, or its words are gone.
func rowID(r events.Record) (events.ID, error) {
	if r.Erased {
		return events.ID{}, nil
	}
	return rows.MadeBy(r)
}

// line is the beginning of what an event says, on one line.
func line(e events.Event) string {
	text := strings.Join(saidIn(e), " ")
	text = strings.Join(strings.Fields(text[:min(len(text), 16*maxLineRunes)]), " ")
	runes := []rune(strings.ToValidUTF8(text, ""))
	if len(runes) > maxLineRunes {
		return string(runes[:maxLineRunes-1]) + "…"
	}
	return string(runes)
}
