package engine

import (
	"testing"

	"github.com/cmemd/cmemd/events"
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
