package union_test

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// TestRefused: what is no continuation of a copy is refused, and nothing of it is kept.
func TestRefused(t *testing.T) {
	t.Parallel()
	h := newJoinedHome(t)
	u := open(t, h.own, h.dir)
	more := mustAppend(t, h.other, logtest.Session("b"), "b6", "b7", "b8")
	twin := logtest.Open(t, eventlog.Config{}) // the same log, that went on in another way behind record 3
	if err := twin.Restore(t.Context(), h.all[:3]...); err != nil {
		t.Fatal(err)
	}
	fork := append(slices.Clone(h.all[:3]), mustAppend(t, twin, logtest.Session("b"), "x4", "x5", "x6")...)
	chain := more[0]
	chain.Chain[3]++
	header := more[0]
	header.OccurredAt = header.OccurredAt.Add(1)
	payload := more[0]
	payload.PayloadHash[1]++
	for name, test := range map[string]struct {
		runs []union.Run
		want error
	}{
		"a gap":             {[]union.Run{{Log: h.id, Records: more[1:]}}, union.ErrGap},
		"a fork":            {[]union.Run{{Log: h.id, Records: fork}}, union.ErrForked},
		"a fork behind":     {[]union.Run{{Log: h.id, Records: fork[5:]}}, events.ErrCorrupt},
		"another chain":     {[]union.Run{{Log: h.id, Records: []events.Record{chain}}}, events.ErrCorrupt},
		"another header":    {[]union.Run{{Log: h.id, Records: []events.Record{header}}}, events.ErrCorrupt},
		"another payload":   {[]union.Run{{Log: h.id, Records: []events.Record{payload}}}, events.ErrCorrupt},
		"out of order":      {[]union.Run{{Log: h.id, Records: []events.Record{more[0], more[2]}}}, events.ErrCorrupt},
		"two logs at once":  {[]union.Run{{Log: h.id, Records: more[:1]}, {Log: events.LogID{1}, Records: more[1:2]}}, eventlog.ErrInvalid},
		"moved":             {[]union.Run{{Log: h.id, Records: []events.Record{more[0].Moved(h.id, 6, 5, nil)}}}, events.ErrMoved},
		"needs of too many": {[]union.Run{{Log: h.id, Records: more[:1], Needs: make([]events.Place, 2000)}}, eventlog.ErrInvalid},
	} {
		if err := u.Add(t.Context(), test.runs...); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
	}
	var gap *union.GapError
	if err := u.Add(t.Context(), union.Run{Log: h.id, Records: more[2:]}); !errors.As(err, &gap) || gap.Want != 6 || gap.Given != 8 {
		t.Errorf("got %v, want a GapError of 6 and 8", err)
	}
	if got := u.Copies(); len(got) != 1 || got[0].Last != 5 {
		t.Errorf("something was kept: %+v", got)
	}
	mustAdd(t, u, union.Run{Log: h.id, Records: more})
	if diff := cmp.Diff(append(inTurn(), "b6", "b7", "b8"), texts(t, u)); diff != "" {
		t.Error(diff)
	}
}

// TestFullDisk: while there is no room for copies the own log is appended to and read as ever, and afterwards the copies go on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	h := newJoinedHome(t)
	full := true
	u := open(t, h.own, h.dir, func(c *union.Config) {
		c.Copies.Free = func(string) (uint64, error) {
			if full {
				return 1 << 20, nil
			}
			return 1 << 40, nil
		}
	})
	more := mustAppend(t, h.other, logtest.Session("b"), "b6")
	if err := u.Add(t.Context(), union.Run{Log: h.id, Records: more}); !errors.Is(err, eventlog.ErrDiskFull) {
		t.Errorf("Add: got %v, want ErrDiskFull", err)
	}
	mustAppend(t, h.own, logtest.Session("a"), "a5")
	if diff := cmp.Diff(append(inTurn(), "a5"), texts(t, u)); diff != "" {
		t.Error(diff)
	}
	full = false
	mustAdd(t, u, union.Run{Log: h.id, Records: more})
	if diff := cmp.Diff(append(inTurn(), "a5", "b6"), texts(t, u)); diff != "" {
		t.Error(diff)
	}
}

// TestNeverJoined: reading makes no file, and what is asked of others says that there are none.
func TestNeverJoined(t *testing.T) {
	t.Parallel()
	own, dir := logtest.Open(t, eventlog.Config{}), copies(t)
	u := open(t, own, dir)
	if id, err := u.ID(t.Context()); !id.IsZero() || err != nil {
		t.Errorf("ID of an empty log: %q, %v", id, err)
	}
	if err := u.Add(t.Context(), union.Run{Log: events.LogID{1}, Records: make([]events.Record, 1)}); !errors.Is(err, union.ErrOwn) {
		t.Errorf("Add while the own log is empty: got %v, want ErrOwn", err)
	}
	mustAppend(t, own, events.Daemon, "1")
	next, err := u.Settle(t.Context())
	if got := texts(t, u); len(got) != 1 || !next.IsZero() || err != nil || len(u.Copies()) != 0 || idOf(t, u) != mustID(t, own) {
		t.Errorf("got %v, %s, %v, %v", got, next, err, u.Copies())
	}
	if err := errors.Join(u.Compact(t.Context())); err != nil {
		t.Error(err)
	}
	if done, err := u.Trim(t.Context(), union.Limits{}); done != (union.Trimmed{}) || err != nil {
		t.Errorf("Trim: %+v, %v", done, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a folder: %v", err)
	}
}

// TestModes: what is of others is for nobody else on this machine.
func TestModes(t *testing.T) {
	t.Parallel()
	h := newJoinedHome(t)
	for _, path := range []string{h.order(), h.copy()} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
		}
	}
	if info, err := os.Stat(h.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v, %v", info.Mode(), err)
	}
}
