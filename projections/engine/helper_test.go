package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// count is what a stream has had, and the latest of it.
type count struct {
	Records int             `cbor:"1,keyasint"`
	Last    events.Position `cbor:"2,keyasint"`
}

// countView counts the records of each stream, and has a value for every record.
type countView struct{ called string }

func countTable() Table[count]   { return Table[count]{Name: "rows"} }
func recordTable() Table[string] { return Table[string]{Name: "records", Ordered: true} }
func (v countView) Name() string { return v.called }
func (countView) Reads() Reads   { return Reads{Others: true} }
func (countView) Layout() Layout {
	return Layout{Version: 1, Tables: []TableSpec{countTable().Spec(ShowText), recordTable().Spec(ShowPosition)}}
}
func streamKey(id events.StreamID) []byte { return []byte(id) }
func (v countView) Fold(x *Tx) func(*Record) {
	return (&countFold{x, NewCache(x, countTable(), streamKey)}).apply
}

type countFold struct {
	x    *Tx
	rows *Cache[events.StreamID, count]
}

func (f *countFold) apply(r *Record) {
	c := f.rows.Edit(r.Stream)
	c.Records++
	c.Last = r.Position
	recordTable().Put(f.x, PositionKey(r.Position), fmt.Sprint(r.Kind))
}

// world is a log of two sessions, into which a test writes.
type world struct {
	tb  testing.TB
	log eventlog.Log
	ids uint64
}

func newWorld(tb testing.TB) *world {
	return &world{tb: tb, log: logtest.Open(tb, eventlog.Config{})}
}

func (w *world) say(n int, e events.Event) events.Position {
	w.tb.Helper()
	w.ids++
	var id events.ID
	binary.BigEndian.PutUint64(id[8:], w.ids)
	stream := events.SessionIDOf("claude-code", fmt.Sprint("s", n)).Stream()
	records, err := eventlog.AppendEnd(context.Background(), w.log, stream, events.Draft{ID: id, OccurredAt: time.Unix(1e9, 0), Event: e})
	if err != nil {
		w.tb.Fatal(err)
	}
	return records[0].Position
}

func (w *world) open() events.Position { return w.say(0, events.SessionOpened{Agent: "claude-code"}) }

func (w *world) tool() events.Position {
	return w.say(int(w.ids%2), events.ToolUsed{Tool: "Edit", Input: fmt.Sprint(w.ids)})
}

func mustOpen(t testing.TB, dir string, log eventlog.Log, cfg Config) *Views {
	t.Helper()
	v, err := Open(dir, log, cfg, []View{countView{"sessions"}, countView{"others"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}

// dump is everything that views hold, one line a value, by the names of views: not by those of the copies they lie in.
func dump(t testing.TB, v *Views) []string {
	t.Helper()
	var lines []string
	err := v.Read(context.Background(), func(r *ReadTx) {
		for _, view := range v.views {
			x := r.View(view.Name())
			for _, table := range view.Layout().Tables {
				c := x.Cursor(table.name)
				for k, raw := c.First(); k != nil; k, raw = c.Next() {
					lines = append(lines, fmt.Sprintf("%s/%s at %d: %x = %x", view.Name(), table.name, x.Checkpoint, k, raw))
				}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}
