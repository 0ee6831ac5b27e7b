package union_test

import (
	"context"
	"iter"
	"path/filepath"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// quick is how copies are opened that need outlive no loss of power.
var quick = eventlog.Config{NoSync: true, Codec: events.NewCodec()}

// tester is what a testing.TB and a rapid.T are.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Cleanup(f func())
	Context() context.Context
}

// open opens the union of own and what is in dir, and closes it at the end of the test.
func open(tb tester, own *eventlog.Bolt, dir string, change ...func(*union.Config)) *union.Union {
	tb.Helper()
	cfg := union.Config{Dir: dir, Copies: quick}
	for _, f := range change {
		f(&cfg)
	}
	u, err := union.Open(own, cfg)
	if err != nil {
		tb.Fatalf("Open: %v", err)
	}
	tb.Cleanup(func() { _ = u.Close() })
	return u
}

func copies(tb testing.TB) string { return filepath.Join(tb.TempDir(), "copies") }

// fed is a Union as logtest feeds it.
type fed struct{ *union.Union }

func (f fed) Feed(ctx context.Context, log events.LogID, records ...events.Record) error {
	return f.Add(ctx, union.Run{Log: log, Records: records})
}

func TestReader(t *testing.T) {
	t.Parallel()
	logtest.RunReader(t, func(tb testing.TB, own *eventlog.Bolt) logtest.Reader { return fed{open(tb, own, copies(tb))} })
}

// alone is an own log that is read through its union.
type alone struct {
	*eventlog.Bolt
	u *union.Union
}

func (a alone) Get(ctx context.Context, at events.Position) (events.Record, error) {
	return a.u.Get(ctx, at)
}

func (a alone) GetMany(ctx context.Context, at ...events.Position) iter.Seq2[events.Record, error] {
	return a.u.GetMany(ctx, at...)
}

func (a alone) Stream(ctx context.Context, stream events.StreamID, from events.Version) iter.Seq2[events.Record, error] {
	return a.u.Stream(ctx, stream, from)
}

func (a alone) All(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return a.u.All(ctx, from)
}

func (a alone) Follow(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return a.u.Follow(ctx, from)
}

func (a alone) Head(ctx context.Context, stream events.StreamID) (events.Version, events.Position, error) {
	return a.u.Head(ctx, stream)
}

func (a alone) Last(ctx context.Context) (events.Position, error) { return a.u.Last(ctx) }

// TestAlone: of a home that never joined others the union is the own log.
func TestAlone(t *testing.T) {
	t.Parallel()
	logtest.Run(t, func(tb testing.TB) logtest.Log {
		own := logtest.Open(tb, eventlog.Config{})
		return alone{own, open(tb, own, copies(tb))}
	})
}
