package offline

import (
	"errors"
	"os"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// TestCompareJoinedHome: the views of a home that has copies of other machines' logs are set beside what all of these lead to, and none is found to be of
// another log.
func TestCompareJoinedHome(t *testing.T) {
	t.Parallel()
	p := homedir.PathsOf(t.TempDir())
	if err := p.Make(); err != nil {
		t.Fatal(err)
	}
	log, err := eventlog.Open(p.Log, eventlog.Config{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	theirs := logtest.Open(t, eventlog.Config{})
	records, err := eventlog.AppendEnd(t.Context(), theirs, logtest.Session("there"), logtest.Draft("one"), logtest.Draft("two"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eventlog.AppendEnd(t.Context(), log, logtest.Session("here"), logtest.Draft("three")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(p.Machines, 0o700); err != nil {
		t.Fatal(err)
	}
	all, err := union.Open(log, union.Config{Dir: p.Copies, Copies: eventlog.Config{NoSync: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := all.Add(t.Context(), union.Run{Log: events.LogIDOf(records[0]), Records: records}); err != nil {
		t.Fatal(err)
	}
	views, err := projections.Open(p.Views, union.Log{Union: all}, engine.Config{BootID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	ix, err := index.Open(t.Context(), p.Index, union.Log{Union: all}, index.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(views.CatchUp(t.Context()), ix.CatchUp(t.Context()), ix.Close(), views.Close(), all.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadDir(p.Copies)
	if err != nil {
		t.Fatal(err)
	}
	out, err := compareViews(t.Context(), log, p.Home, func(uint64, uint64) {})
	if err != nil || !out.Well() || len(out.Anew) > 0 || out.Position != 3 {
		t.Errorf("got %+v, %v", out, err)
	}
	if after, err := os.ReadDir(p.Copies); err != nil || len(after) != len(before) || len(after) < 2 {
		t.Errorf("the copies are %v, and were %v: %v", after, before, err)
	}
}
