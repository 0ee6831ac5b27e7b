package projections

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
)

// Health returns how the observer did in the hours from that of since to that of until, both included; a zero until is
// the end of all hours, a zero since the beginning.
func (v *Views) Health(ctx context.Context, since, until time.Time) (Health, error) {
	var h Health
	err := v.view(ctx, healthView{}.name(), func(x *tx) error {
		h = Health{Since: since, Until: until}
		return h.read(x)
	})
	return h, err
}

func (h *Health) read(x *tx) error {
	now, _, err := wellTable().get(x, wellKey(struct{}{}))
	if err != nil {
		return err
	}
	h.LastKept, h.LastKeptAt, h.Degraded = now.LastKept, now.LastKeptAt, now.Degraded
	if h.Pauses, err = all(x, pauseTable()); err != nil {
		return err
	}
	if h.Quarantines, err = all(x, quarantineTable()); err != nil {
		return err
	}
	return h.readHours(x)
}

// all reads a whole table, which must be small.
func all[V any](x *tx, t table[V]) ([]V, error) {
	b, err := t.in(x)
	if err != nil {
		return nil, err
	}
	var values []V
	err = b.ForEach(func(k, raw []byte) error {
		var v V
		if err := x.codec.decode(raw, &v); err != nil {
			return damaged("table %s, key %x: %v", t.name, k, err)
		}
		values = append(values, v)
		return nil
	})
	return values, err
}

func (h *Health) readHours(x *tx) error {
	b, err := hourTable().in(x)
	if err != nil {
		return err
	}
	var from []byte
	if !h.Since.IsZero() {
		from = hourKey{hour: h.Since.Unix() / 3600}.bytes()[:8]
	}
	models := map[string]*ModelHealth{}
	c := b.Cursor()
	for k, raw := c.Seek(from); k != nil; k, raw = c.Next() {
		hour := hourOfKey(k)
		if !h.Until.IsZero() && hour.After(h.Until) {
			break
		}
		var count hourCount
		if err := x.codec.decode(raw, &count); err != nil {
			return damaged("health of %s: %v", showHour(k), err)
		}
		h.enter(hour, count, models)
	}
	for _, key := range slices.Sorted(maps.Keys(models)) {
		h.Models = append(h.Models, *models[key])
	}
	return nil
}

func (h *Health) enter(hour time.Time, count hourCount, models map[string]*ModelHealth) {
	h.Total.add(count.Count)
	if n := len(h.Hours); n == 0 || !h.Hours[n-1].Hour.Equal(hour) {
		h.Hours = append(h.Hours, HourHealth{Hour: hour})
	}
	h.Hours[len(h.Hours)-1].add(count.Count)
	key := strings.Join([]string{count.Provider, count.Model}, "\x00")
	if models[key] == nil {
		models[key] = &ModelHealth{Provider: count.Provider, Model: count.Model}
	}
	models[key].add(count.Count)
}

// add adds other's numbers to h's. It shares no map with other.
func (h *HealthCount) add(other HealthCount) {
	h.Turns += other.Turns
	h.Kept += other.Kept
	h.Idle += other.Idle
	h.Usage.Input += other.Usage.Input
	h.Usage.Cached += other.Usage.Cached
	h.Usage.Output += other.Usage.Output
	for slot, n := range other.Latencies {
		h.Latencies[slot] += n
	}
	for _, m := range []struct {
		into *map[string]int64
		from map[string]int64
	}{{&h.Skipped, other.Skipped}, {&h.Dropped, other.Dropped}, {&h.Failures, other.Failures}} {
		for key, n := range m.from {
			addTo(m.into, key, n)
		}
	}
}
