package union_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// joinedHome is an own log of 4 records and a copy of 5, in turns, and what is asked of it.
type joinedHome struct {
	own, other *eventlog.Bolt
	all        []events.Record // of the other log
	id         events.LogID    // of the other log
	dir        string
}

func newJoinedHome(t *testing.T) *joinedHome {
	t.Helper()
	h := &joinedHome{own: logtest.Open(t, eventlog.Config{}), other: logtest.Open(t, eventlog.Config{}), dir: copies(t)}
	h.all = mustAppend(t, h.other, logtest.Session("b"), "b1", "b2", "b3", "b4", "b5")
	h.id = events.LogIDOf(h.all[0])
	mustAppend(t, h.own, logtest.Session("a"), "a1", "a2")
	u := open(t, h.own, h.dir)
	mustAdd(t, u, h.run(0, 3))
	mustAppend(t, h.own, logtest.Session("a"), "a3")
	mustAdd(t, u, h.run(3, 5))
	mustAppend(t, h.own, logtest.Session("a"), "a4")
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *joinedHome) run(from, to int) union.Run {
	return union.Run{Log: h.id, Records: h.all[from:to]}
}

func mustAdd(tb testing.TB, u *union.Union, runs ...union.Run) {
	tb.Helper()
	if err := u.Add(tb.Context(), runs...); err != nil {
		tb.Fatalf("Add: %v", err)
	}
}

func (h *joinedHome) order() string { return filepath.Join(h.dir, "order") }
func (h *joinedHome) copy() string  { return filepath.Join(h.dir, h.id.String()+".db") }

// texts is what a reader sees, in its order.
func texts(t *testing.T, r eventlog.Reader) (all []string) {
	t.Helper()
	last := time.Time{}
	for rec, err := range r.All(t.Context(), 1) {
		if err != nil {
			t.Fatalf("after %v: %v", all, err)
		}
		if rec.RecordedAt.Before(last) || int(rec.Position) != len(all)+1 {
			t.Fatalf("record %d was recorded at %s, the one before at %s", rec.Position, rec.RecordedAt, last)
		}
		last = rec.RecordedAt
		e, err := rec.Event()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.(events.PromptSubmitted).Text)
	}
	return all
}

func idOf(t *testing.T, u *union.Union) events.LogID {
	t.Helper()
	id, err := u.ID(t.Context())
	if err != nil || id.IsZero() {
		t.Fatalf("ID: got %q, %v", id, err)
	}
	return id
}

// inTurn is the order in which a joinedHome came to be.
func inTurn() []string { return []string{"a1", "a2", "b1", "b2", "b3", "a3", "b4", "b5", "a4"} }

// TestReopen: nothing changes by closing and opening, and what is added then stands behind.
func TestReopen(t *testing.T) {
	t.Parallel()
	h := newJoinedHome(t)
	u := open(t, h.own, h.dir)
	if diff := cmp.Diff(inTurn(), texts(t, u)); diff != "" {
		t.Error(diff)
	}
	if id, own := idOf(t, u), mustID(t, h.own); id != own {
		t.Errorf("an order that was never made anew is called %s, the own log %s", id, own)
	}
	want := []union.Copy{{Log: h.id, Last: 5, Shown: 5}}
	if diff := cmp.Diff(want, u.Copies(), cmpopts.IgnoreFields(union.Copy{}, "Bytes")); diff != "" {
		t.Error(diff)
	}
	for at, want := range map[events.Position]events.Place{
		1: {Position: 1}, 3: {Log: h.id, Position: 1}, 6: {Position: 3}, 8: {Log: h.id, Position: 5}, 9: {Position: 4},
	} {
		if got, ok := u.Where(at); got != want || !ok {
			t.Errorf("Where %d: got %+v, %v, want %+v", at, got, ok, want)
		}
		if got, ok := u.At(want); got != at || !ok {
			t.Errorf("At %+v: got %d, %v, want %d", want, got, ok, at)
		}
	}
	for _, at := range []events.Position{0, 10, 1 << 63} {
		if got, ok := u.Where(at); ok {
			t.Errorf("Where %d: got %+v", at, got)
		}
	}
	for _, place := range []events.Place{{}, {Position: 5}, {Log: h.id, Position: 6}, {Log: events.LogID{1}, Position: 1}} {
		if got, ok := u.At(place); ok {
			t.Errorf("At %+v: got %d", place, got)
		}
	}
	if err := u.Verify(t.Context(), h.id, nil); err != nil {
		t.Errorf("Verify: %v", err)
	}
	if err := u.Verify(t.Context(), events.LogID{1}, nil); !errors.Is(err, union.ErrUnknown) {
		t.Errorf("Verify of an unknown log: got %v, want ErrUnknown", err)
	}
	for range 2 {
		if err := u.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if _, err := u.Last(t.Context()); !errors.Is(err, eventlog.ErrClosed) {
		t.Errorf("Last after Close: got %v, want ErrClosed", err)
	}
	if err := u.Add(t.Context(), h.run(0, 1)); !errors.Is(err, eventlog.ErrClosed) {
		t.Errorf("Add after Close: got %v, want ErrClosed", err)
	}
}

func mustID(t *testing.T, log *eventlog.Bolt) events.LogID {
	t.Helper()
	id, err := eventlog.ID(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestLostFiles: whatever becomes of the files, the own log is read whole and in its order, an order that is not the
// one before has another ID, and what is fetched again is there again.
func TestLostFiles(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		harm    func(t *testing.T, h *joinedHome)
		without bool // the copy begins anew
		aside   bool // and the one before is kept
		same    bool // the order is the same
	}{
		"nothing":              {harm: func(*testing.T, *joinedHome) {}, same: true},
		"bytes behind the end": {harm: func(t *testing.T, h *joinedHome) { grow(t, h.order(), make([]byte, 99)) }, same: true},
		"no order":             {harm: func(t *testing.T, h *joinedHome) { remove(t, h.order()) }},
		"an empty order":       {harm: func(t *testing.T, h *joinedHome) { cut(t, h.order(), 0) }},
		"an order of bytes": {harm: func(t *testing.T, h *joinedHome) {
			cut(t, h.order(), 0)
			grow(t, h.order(), bytes.Repeat([]byte("x"), 500))
		}},
		"a bit in the order": {harm: func(t *testing.T, h *joinedHome) { flip(t, h.order(), 40) }},
		"a bit in the logs":  {harm: func(t *testing.T, h *joinedHome) { flip(t, h.order(), 60) }},
		"no copy":            {harm: func(t *testing.T, h *joinedHome) { remove(t, h.copy()) }, without: true},
		"a cut copy":         {harm: func(t *testing.T, h *joinedHome) { cut(t, h.copy(), 9000) }, without: true, aside: true},
		"an empty copy":      {harm: func(t *testing.T, h *joinedHome) { cut(t, h.copy(), 0) }, without: true},
		"a copy of bytes": {harm: func(t *testing.T, h *joinedHome) {
			cut(t, h.copy(), 0)
			grow(t, h.copy(), bytes.Repeat([]byte("x"), 1<<16))
		}, without: true, aside: true},
		"neither": {harm: func(t *testing.T, h *joinedHome) { remove(t, h.copy()); remove(t, h.order()) }, without: true, same: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newJoinedHome(t)
			test.harm(t, h)
			u := open(t, h.own, h.dir)
			want := []string{"a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4", "b5"}
			switch got := texts(t, u); {
			case test.without:
				want = want[:4]
				fallthrough
			case !test.same:
				slices.Sort(got) // by which clock they were recorded is not the test's matter
				fallthrough
			default:
				if test.same && !test.without {
					want = inTurn()
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("what can be read:\n%s", diff)
				}
			}
			if same := idOf(t, u) == mustID(t, h.own); same != test.same {
				t.Errorf("the order has the same ID: %v", same)
			}
			got := u.Copies()
			if told := len(got) == 1 && strings.Contains(got[0].Damage, ".aside-"); told != test.aside {
				t.Errorf("a copy was set aside: %v, %+v", told, got)
			}
			mustAdd(t, u, h.run(0, 5))
			if got := texts(t, u); len(got) != 9 || u.Copies()[0].Damage != "" {
				t.Errorf("after all came again: %v, %+v", got, u.Copies())
			}
			if again := open(t, h.own, h.dir+"-"); idOf(t, again) != mustID(t, h.own) {
				t.Error("a union of another folder has another ID")
			}
		})
	}
}

func cut(t *testing.T, path string, n int64) {
	t.Helper()
	info, err := os.Stat(path)
	if err == nil && n < 0 {
		n += info.Size()
	}
	if err == nil {
		err = os.Truncate(path, n)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func grow(t *testing.T, path string, more []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(b, more...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func flip(t *testing.T, path string, at int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		b[at] ^= 4
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// TestCrashedBetween: records that came, and of whose place the program had not told the disk, wait as if nobody knew what they name.
func TestCrashedBetween(t *testing.T) {
	t.Parallel()
	h := newJoinedHome(t)
	cut(t, h.order(), -28)
	now := time.Now()
	at := func(c *union.Config) { c.Now = func() time.Time { return now } }
	u := open(t, h.own, h.dir, at)
	if diff := cmp.Diff([]string{"a1", "a2", "b1", "b2", "b3", "a3", "a4"}, texts(t, u)); diff != "" {
		t.Error(diff)
	}
	if got := u.Copies()[0]; got.Last != 5 || got.Shown != 3 {
		t.Errorf("got %+v, want 5 records, 3 of them with a place", got)
	}
	next, err := u.Settle(t.Context())
	if err != nil || !next.Equal(now.Add(time.Minute)) {
		t.Errorf("Settle: got %s, %v, want in a minute", next, err)
	}
	now = now.Add(time.Minute)
	if next, err = u.Settle(t.Context()); err != nil || !next.IsZero() {
		t.Errorf("Settle a minute later: got %s, %v", next, err)
	}
	if diff := cmp.Diff([]string{"a1", "a2", "b1", "b2", "b3", "a3", "a4", "b4", "b5"}, texts(t, u)); diff != "" {
		t.Error(diff)
	}
}

// TestOtherOwnLog: a home whose log was put back, or that goes on as a new log, has an order of its own again.
func TestOtherOwnLog(t *testing.T) {
	t.Parallel()
	h := newJoinedHome(t)
	fresh := logtest.Open(t, eventlog.Config{})
	mustAppend(t, fresh, logtest.Session("c"), "c1")
	u := open(t, fresh, h.dir)
	got := texts(t, u)
	slices.Sort(got)
	if diff := cmp.Diff([]string{"b1", "b2", "b3", "b4", "b5", "c1"}, got); diff != "" {
		t.Error(diff)
	}
	if id := idOf(t, u); id == mustID(t, fresh) || id == mustID(t, h.own) {
		t.Errorf("the new order has the ID of a log: %s", id)
	}
	mustClose(t, u)

	again := logtest.Open(t, eventlog.Config{}) // the log before, without its last record
	for r, err := range h.own.Between(t.Context(), 1, 2) {
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Restore(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	h = &joinedHome{own: h.own, other: h.other, all: h.all, id: h.id, dir: copies(t)}
	u = open(t, h.own, h.dir)
	mustAdd(t, u, h.run(0, 5)) // behind record 4
	mustClose(t, u)
	u = open(t, again, h.dir)
	if got := texts(t, u); len(got) != 7 || idOf(t, u) == mustID(t, again) {
		t.Errorf("a log that was put back: got %v", got)
	}
}

func mustClose(t testing.TB, u *union.Union) {
	t.Helper()
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDamageInside: a page of a copy that is damaged while it is read is an error that says whose copy it is, and a position; what is
// elsewhere is read; the next Open begins the copy anew.
func TestDamageInside(t *testing.T) {
	t.Parallel()
	h := newJoinedHome(t)
	u := open(t, h.own, h.dir)
	large := strings.Repeat("0123456789abcdef", 1<<12) // of pages of its own
	more := mustAppend(t, h.other, logtest.Session("b"), large)
	mustAdd(t, u, union.Run{Log: h.id, Records: more})
	mustAppend(t, h.own, logtest.Session("a"), "a5")
	harmStored(t, h.copy(), more[0])
	for range 2 {
		_, err := u.Get(t.Context(), 10)
		damage, ok := errors.AsType[*eventlog.CorruptError](err)
		if !ok || damage.Position != 10 || !strings.Contains(err.Error(), h.id.String()) {
			t.Errorf("Get: got %v, want a *CorruptError that names the log", err)
		}
	}
	if r, err := u.Get(t.Context(), 11); err != nil || r.Position != 11 {
		t.Errorf("the record behind: got %d, %v", r.Position, err)
	}
	if got := u.Copies(); got[0].Damage == "" {
		t.Errorf("the damage is not told: %+v", got)
	}
	if _, err := u.Settle(t.Context()); err != nil {
		t.Errorf("Settle: %v", err)
	}
	mustClose(t, u)
	u = open(t, h.own, h.dir)
	if diff := cmp.Diff([]string{"a1", "a2", "a3", "a4", "a5"}, texts(t, u)); diff != "" {
		t.Errorf("after Open:\n%s", diff)
	}
	mustAdd(t, u, h.run(0, 5))
	mustClose(t, u)
	u = open(t, h.own, h.dir)
	if got := texts(t, u); len(got) != 10 || u.Copies()[0].Damage != "" {
		t.Errorf("fetched again: %v, %+v", got, u.Copies())
	}
}

// harmStored makes a record in the file at path one of another position.
func harmStored(t *testing.T, path string, r events.Record) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := r.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(b, stored[:64])
	if at < 0 {
		t.Fatal("the stored record is not in the file")
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		_, err = f.WriteAt([]byte{0xff}, int64(at)+7) // behind the prologue, flags and schema: of the position
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestTidy: a journal of many runs that are few stretches is written anew by Open, and says the same.
func TestTidy(t *testing.T) {
	t.Parallel()
	h := newJoinedHome(t)
	now := time.Now()
	at := func(c *union.Config) { c.Now = func() time.Time { return now } }
	u := open(t, h.own, h.dir, at)
	more := mustAppend(t, h.other, logtest.Session("b"), slices.Repeat([]string{"b"}, 5000)...)
	for i := range more {
		if i == 4500 {
			mustAppend(t, h.own, logtest.Session("a"), "a5")
		}
		run := union.Run{Log: h.id, Records: more[i : i+1]}
		if i == len(more)-1 {
			run.Needs = []events.Place{{Log: events.LogID{42}, Position: 1}}
		}
		mustAdd(t, u, run)
	}
	erased := events.Place{Log: h.id, Position: 6000}
	if err := u.Erase(t.Context(), erased); err != nil {
		t.Fatal(err)
	}
	want, copies := texts(t, u), u.Copies()
	before, err := os.Stat(h.order())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		mustClose(t, u)
		u = open(t, h.own, h.dir, at)
		if got := texts(t, u); !slices.Equal(got, want) || idOf(t, u) != mustID(t, h.own) {
			t.Fatalf("%d records in another order than the %d before", len(got), len(want))
		}
		if diff := cmp.Diff(copies, u.Copies(), cmpopts.IgnoreFields(union.Copy{}, "Bytes")); diff != "" {
			t.Errorf("copies:\n%s", diff)
		}
		if after, err := os.Stat(h.order()); err != nil || after.Size() > before.Size()/100 {
			t.Errorf("the journal has %d bytes, it had %d: %v", after.Size(), before.Size(), err)
		}
	}
	now = now.Add(time.Minute)
	if _, err := u.Settle(t.Context()); err != nil || len(texts(t, u)) != len(want)+1 {
		t.Errorf("what waited does so for ever: %v", err)
	}
	if err := u.Erase(t.Context(), erased); err != nil {
		t.Error(err)
	}
}
