package logtest

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
)

// shift is how many records of another machine stand before the own log's second: more than a test's own log has.
const shift = 1000

// Shifted returns a log over own, which has one record, in which no other own record ever has the position that own has it at:
// there another machine's records are, which became known as now says; nil: time.Now. So whoever mixes up positions of the own
// log and of the union names another machine's record, or none.
func Shifted(tb interface {
	Helper()
	Fatal(args ...any)
	Cleanup(f func())
}, own *eventlog.Bolt, now func() time.Time) union.Log {
	tb.Helper()
	dir, err := os.MkdirTemp("", "copies")
	if err != nil {
		tb.Fatal(err)
	}
	u, err := union.Open(own, union.Config{Dir: filepath.Join(dir, "copies"), Copies: eventlog.Config{NoSync: true}, Now: now})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = u.Close()
		_ = os.RemoveAll(dir)
	})
	other := Open(tb, eventlog.Config{})
	ctx := context.Background()
	drafts := make([]events.Draft, shift)
	for i := range drafts {
		drafts[i] = Draft("of another machine")
	}
	records, err := eventlog.AppendEnd(ctx, other, Session("of another machine"), drafts...)
	if err == nil {
		err = u.Add(ctx, union.Run{Log: events.LogIDOf(records[0]), Records: records})
	}
	if err != nil {
		tb.Fatal(err)
	}
	return union.Log{Union: u}
}
