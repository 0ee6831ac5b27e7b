package engine

import (
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/race"
)

// idleView keeps nothing.
type idleView struct{}

func (idleView) Name() string           { return "idle" }
func (idleView) Reads() Reads           { return Reads{} }
func (idleView) Layout() Layout         { return Layout{Version: 1} }
func (idleView) Fold(*Tx) func(*Record) { return func(*Record) {} }

// TestARecordCostsNothingItself: what a record takes of memory while it is applied is what folds make of it.
func TestARecordCostsNothingItself(t *testing.T) {
	w := newWorld(t)
	for range 100 {
		w.tool()
	}
	v, err := Open(t.TempDir(), w.log, Config{}, []View{idleView{}})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	var records []events.Record
	for r, err := range w.log.All(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	cost := func(of []events.Record) float64 {
		return testing.AllocsPerRun(10, func() {
			if err := v.apply(of, v.live); err != nil {
				t.Error(err)
			}
		})
	}
	if one, all := cost(records[:1]), cost(records); all > one+20 {
		t.Errorf("%d records take %.0f allocations, one takes %.0f", len(records), all, one)
	}
}

// keptView keeps a value for each record.
type keptView struct{}

func keptTable() Table[Facts] { return Table[Facts]{Name: "kept", Ordered: true} }

func (keptView) Name() string { return "kept" }
func (keptView) Reads() Reads { return Reads{} }
func (keptView) Layout() Layout {
	return Layout{Version: 1, Tables: []TableSpec{keptTable().Spec(ShowPosition)}}
}

func (keptView) Fold(x *Tx) func(*Record) {
	kept := NewCache(x, keptTable(), PositionKey)
	return func(r *Record) { kept.Add(r.Position).Agent = "a" }
}

// TestAStoredValueCostsItsKey: a value that is stored takes its key beside what bbolt takes of it.
func TestAStoredValueCostsItsKey(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector empties pools")
	}
	w := newWorld(t)
	for range 200 {
		w.tool()
	}
	v, err := Open(t.TempDir(), w.log, Config{}, []View{keptView{}})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	var records []events.Record
	for r, err := range w.log.All(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	apply := func() {
		v.live[0].at = 0
		if err := v.apply(records, v.live); err != nil {
			t.Error(err)
		}
	}
	value := []byte("a value that is about as long as the others")
	store := func() {
		err := v.write(func(btx *bolt.Tx) error {
			b := btx.Bucket([]byte("kept")).Bucket([]byte("kept"))
			for _, r := range records {
				if err := b.Put(PositionKey(r.Position), value); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	n := float64(len(records))
	if more := (testing.AllocsPerRun(10, apply) - testing.AllocsPerRun(10, store)) / n; more > 0.5 {
		t.Errorf("a value takes %.1f allocations more than to store its key", more)
	}
}
