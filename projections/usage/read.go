package usage

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/projections/engine"
)

// readSlice is after how many cells a transaction of a read ends, as soon as a quarter of an hour does: a turn never
// moves to another one, so that none is counted twice.
const readSlice = 4096

// Reader answers from the view of usage. Its methods are safe for concurrent use.
type Reader struct{ Views *engine.Views }

// Usage returns what the chosen turns cost, in groups in order of their fields. Turns that run are not in it.
func (v Reader) Usage(ctx context.Context, f Filter) ([]Group, error) {
	sum := &sum{filter: f, groups: map[Key]map[answerer]*Count{}, zone: f.Zone, last: 1<<63 - 1}
	sum.zone = cmp.Or(sum.zone, time.UTC)
	from := int64(0)
	if !f.Since.IsZero() {
		from = quarterAt(f.Since)
	}
	if !f.Until.IsZero() {
		sum.last = quarterAt(f.Until.Add(-1))
	}
	for more := true; more; {
		err := v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) { from, more = sum.some(x, from) })
		if err != nil {
			return nil, err
		}
	}
	return sum.all(), nil
}

// Compare orders by provider, then model, then the model that was asked.
func (m Model) Compare(o Model) int {
	return cmp.Or(cmp.Compare(m.Provider, o.Provider), cmp.Compare(m.Model, o.Model), cmp.Compare(m.Asked, o.Asked))
}

// sum adds cells up.
type sum struct {
	filter Filter
	zone   *time.Location
	last   int64 // quarter
	groups map[Key]map[answerer]*Count

	quarter int64 // whose day is known
	day     string
}

// some adds up a slice of the cells from a quarter on, and returns where the next one begins.
func (s *sum) some(x *engine.Tx, from int64) (next int64, more bool) {
	read := 0
	for k, count := range cellTable().From(x, nil, binary.BigEndian.AppendUint64(nil, uint64(from))) {
		var key cellKey
		if key.parse(k) != nil {
			x.Fail(engine.Damaged("usage, key %x", k))
		}
		if key.quarter > s.last {
			return 0, false
		}
		if read++; read > readSlice && key.quarter != from {
			return key.quarter, true
		}
		from = key.quarter
		s.add(key, count)
	}
	return 0, false
}

func (s *sum) add(key cellKey, count Count) {
	if !s.filter.Session.IsZero() && key.session != s.filter.Session || s.filter.Among != nil && !s.filter.Among[key.session] {
		return
	}
	group := s.groupOf(key)
	models := s.groups[group]
	if models == nil {
		models = map[answerer]*Count{}
		s.groups[group] = models
	}
	if models[key.by] == nil {
		models[key.by] = &Count{}
	}
	models[key.by].Add(count, 1)
}

func (s *sum) groupOf(k cellKey) Key {
	switch s.filter.By {
	case BySession:
		return Key{Session: k.session}
	case ByModel:
		return Key{Provider: k.by.provider, Model: k.by.model}
	case ByProvider:
		return Key{Provider: k.by.provider}
	case ByOutcome:
		return Key{Result: k.result, Failure: events.FailureClass(k.failure), Probe: k.probe}
	}
	if s.day == "" || s.quarter != k.quarter {
		s.quarter, s.day = k.quarter, time.Unix(k.quarter*quarterSeconds, 0).In(s.zone).Format(time.DateOnly)
	}
	return Key{Day: s.day}
}

func (s *sum) all() []Group {
	groups := make([]Group, 0, len(s.groups))
	for key, models := range s.groups {
		g := Group{Key: key}
		for by, count := range models {
			g.Models = append(g.Models, by.usage(*count))
		}
		order.By(g.Models, Model.Compare)
		groups = append(groups, g)
	}
	order.By(groups, compareGroups)
	return groups
}

func compareGroups(a, b Group) int {
	return cmp.Or(
		cmp.Compare(a.Day, b.Day), slices.Compare(a.Session[:], b.Session[:]), cmp.Compare(a.Provider, b.Provider),
		cmp.Compare(a.Model, b.Model), order.Bools(a.Probe, b.Probe), cmp.Compare(resultCode(a.Result), resultCode(b.Result)),
		cmp.Compare(a.Failure, b.Failure),
	)
}
