package health

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/cmemd/cmemd/projections/engine"
)

// Reader answers from the view of health. Its methods are safe for concurrent use.
type Reader struct{ Views *engine.Views }

// Health returns how the observer did from since to until, both included; a zero until is the end of all time, a zero
// since the beginning, or Kept before the newest turn if that is later. Borders within 24 hours of the newest turn are exact to
// five minutes, earlier ones to the hour. What is not well is as of now.
func (v Reader) Health(ctx context.Context, since, until time.Time) (Report, error) {
	var h Report
	err := v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
		h = Report{Since: since, Until: until}
		h.read(x)
	})
	return h, err
}

// HealthWindows returns how the observer did in the hour, the day and the week before now, as exactly as Health does.
func (v Reader) HealthWindows(ctx context.Context, now time.Time) (Windows, error) {
	var out Windows
	err := v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
		for _, w := range []struct {
			into *Window
			span time.Duration
		}{{&out.Hour, time.Hour}, {&out.Day, 24 * time.Hour}, {&out.Week, 7 * 24 * time.Hour}} {
			h := Report{Since: now.Add(-w.span), Until: now}
			h.readSpans(x)
			*w.into = Window{Since: h.Since, Total: h.Total, Models: h.Models}
		}
	})
	return out, err
}

func (h *Report) read(x *engine.Tx) {
	now, _ := wellTable().Get(x, statusKey(struct{}{}))
	h.LastKept, h.LastKeptAt, h.Degraded, h.DegradedAt = now.LastKept, now.LastKeptAt, now.Degraded, now.DegradedAt
	h.LastRespawn = now.Respawn
	h.Streaks, h.Pauses, h.Quarantines = streakTable().Values(x, nil), pauseTable().Values(x, nil), quarantineTable().Values(x, nil)
	h.readSpans(x)
}

// readSpans adds up the hours between Since and Until, and the slots of those that lie in it only in part.
func (h *Report) readSpans(x *engine.Tx) {
	now, _ := wellTable().Get(x, statusKey(struct{}{}))
	first, last := int64(-1<<62), int64(1<<62) // slots
	if !h.Since.IsZero() {
		first = slotAt(h.Since)
	}
	if !h.Until.IsZero() {
		last = slotAt(h.Until)
	}
	s := &spanSum{health: h, models: map[answerer]*Model{}}
	for hour, c := range spans(x, hourTable(), hourOf(first), hourOf(last)) {
		begins := hour * slotsAnHour
		whole := begins >= first && begins+slotsAnHour-1 <= last
		if whole || begins <= now.horizon() { // what is left of its slots is not all of it
			s.enter(hour, c)
		} else {
			s.partial(hour)
		}
	}
	for _, hour := range s.parts {
		from, to := max(first, hour*slotsAnHour), min(last, hour*slotsAnHour+slotsAnHour-1)
		for _, c := range spans(x, slotTable(), from, to) {
			s.enter(hour, c)
		}
	}
	s.finish()
}

func hourOf(slot int64) int64 { return slot / slotsAnHour }

// spans yields the counts of the spans from first to last, both included, in order.
func spans(x *engine.Tx, t engine.Table[spanCount], first, last int64) iter.Seq2[int64, spanCount] {
	return func(yield func(int64, spanCount) bool) {
		for k, c := range t.From(x, nil, spanPrefix(max(first, 0))) {
			if span := spanOfKey(k); span > last || !yield(span, c) {
				return
			}
		}
	}
}

// spanSum adds spans up by hour and by model.
type spanSum struct {
	health *Report
	models map[answerer]*Model
	parts  []int64 // hours of which only slots count
}

func (s *spanSum) partial(hour int64) {
	if n := len(s.parts); n == 0 || s.parts[n-1] != hour {
		s.parts = append(s.parts, hour)
	}
}

func (s *spanSum) enter(hour int64, c spanCount) {
	h := s.health
	h.Total.add(c.Count)
	at := time.Unix(hour*3600, 0).UTC()
	i, found := slices.BinarySearchFunc(h.Hours, at, func(a Hour, t time.Time) int { return a.Hour.Compare(t) })
	if !found {
		h.Hours = slices.Insert(h.Hours, i, Hour{Hour: at})
	}
	h.Hours[i].add(c.Count)
	by := answerer{c.Provider, c.Model}
	if by.provider == "" {
		return // a quarantine of nobody knows whose observer
	}
	if s.models[by] == nil {
		s.models[by] = &Model{Provider: by.provider, Model: by.model}
	}
	s.models[by].add(c.Count)
}

func (s *spanSum) finish() {
	order := slices.SortedFunc(maps.Keys(s.models), func(a, b answerer) int {
		return cmp.Or(cmp.Compare(a.provider, b.provider), cmp.Compare(a.model, b.model))
	})
	for _, by := range order {
		s.health.Models = append(s.health.Models, *s.models[by])
	}
}
