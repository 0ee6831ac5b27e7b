package projections

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"iter"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/files"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/projections/sessions"
	"github.com/cmemd/cmemd/testkit/crash"
	"github.com/cmemd/cmemd/testkit/follow"
	"github.com/cmemd/cmemd/testkit/race"
	"github.com/cmemd/cmemd/testkit/seeded"
)

// What package engine and bbolt put on disk.
const (
	viewsFile       = "views.db"
	viewsMark       = "views.db.open"
	viewsMarked     = "layout 2, open in boot "
	viewsCompacting = ".compact"
	viewsPoints     = "checkpoints"
	viewsSecond     = "'"

	boltBranch, boltLeaf, boltBucket = 0x01, 0x02, 0x01
	boltHeader                       = 16
)

func TestMain(m *testing.M) {
	os.Exit(crash.Main(m, map[string]crash.Role{"catch up": catchUpUntilKilled, "make views": makeViews}))
}

// full is a log with enough in it that every kind of page is in the file.
func full(t testing.TB) *world {
	t.Helper()
	return filled(t, 4, 120)
}

// filled is a log of so many sessions, each with so many turns.
func filled(t testing.TB, sessions, turns int) *world {
	t.Helper()
	w := newWorld(t)
	for n := range sessions {
		s := w.open(n)
		for range turns {
			in := w.tool(s, fmt.Sprintf(`{"file_path":"/home/u/p0/%d.go"}`, w.ids))
			w.keep(w.start(s, events.TurnObservation, in), strings.Repeat("long ", 30)+fmt.Sprint(w.ids))
		}
	}
	return w
}

// built is a file of views over w, closed, and what they held.
func built(t testing.TB, w *world) (dir string, content []string) {
	t.Helper()
	dir = t.TempDir()
	v, err := Open(dir, w.log, engine.Config{BootID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	follow.MustCatchUp(t, v)
	content = dump(t, v)
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, content
}

// reopened opens the views in dir, and reports whether they had to be built anew.
func reopened(t testing.TB, dir string, log eventlog.Log, boot string) (v *Views, anew string) {
	t.Helper()
	v, said := reopenedSaying(t, dir, log, boot)
	return v, said.String()
}

// reopenedSaying is reopened, with what is logged also later.
func reopenedSaying(t testing.TB, dir string, log eventlog.Log, boot string) (*Views, *bytes.Buffer) {
	t.Helper()
	said := new(bytes.Buffer)
	return mustOpen(t, dir, log, engine.Config{BootID: boot, Logger: slog.New(slog.NewTextHandler(said, nil))}), said
}

func TestDamagedFileIsBuiltAnew(t *testing.T) {
	t.Parallel()
	w := full(t)
	dir, content := built(t, w)
	path := filepath.Join(dir, viewsFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	for _, c := range []struct {
		name   string
		damage func(b []byte) []byte
	}{
		{"no file", nil},
		{"empty", func([]byte) []byte { return nil }},
		{"text", func([]byte) []byte { return bytes.Repeat([]byte("these are not views\n"), 4000) }},
		{"both meta pages", func(b []byte) []byte { clear(b[:2*page]); return b }},
		{"half a file", func(b []byte) []byte { return b[:len(b)/2] }},
		{"two pages", func(b []byte) []byte { return b[:2*page] }},
		{"a few bytes", func(b []byte) []byte { return b[:100] }},
		{"all but the meta pages", func(b []byte) []byte { clear(b[2*page:]); return b }},
		{"a branch that leads back to itself", func(b []byte) []byte {
			for at := 2 * page; at < len(b); at += page {
				if binary.NativeEndian.Uint16(b[at+8:]) == boltBranch {
					copy(b[at+boltHeader+8:], b[at:at+8])
				}
			}
			return b
		}},
		{"a bucket that became a value", func(b []byte) []byte {
			for at := 2 * page; at < len(b); at += page {
				if binary.NativeEndian.Uint16(b[at+8:]) == boltLeaf && b[at+boltHeader] == boltBucket {
					b[at+boltHeader] = 0
				}
			}
			return b
		}},
		{"page ids out of this world", func(b []byte) []byte {
			for at := 2 * page; at < len(b); at += page {
				if binary.NativeEndian.Uint16(b[at+8:]) == boltBranch {
					binary.NativeEndian.PutUint64(b[at+boltHeader+8:], 1<<55)
				}
			}
			return b
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.damage != nil {
				if err := os.WriteFile(filepath.Join(dir, viewsFile), c.damage(bytes.Clone(whole)), 0o600); err != nil {
					t.Fatal(err)
				}
				vouch(t, dir)
			}
			v, _ := reopened(t, dir, w.log, "b")
			follow.MustCatchUp(t, v)
			if diff := cmp.Diff(content, dump(t, v)); diff != "" {
				t.Fatalf("content (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRandomDamage writes over random bytes of a file, clean or not, and asks of the views only that nothing ends the
// program, and that what can be told to be wrong is made good.
func TestRandomDamage(t *testing.T) {
	t.Parallel()
	if race.Enabled { // it has the compiler put checks of pointers into bbolt
		t.Skip("pointer checks end the program at the first damaged page")
	}
	w := full(t)
	dir, _ := built(t, w)
	whole, err := os.ReadFile(filepath.Join(dir, viewsFile))
	if err != nil {
		t.Fatal(err)
	}
	rng := seeded.New(t)
	for range 30 {
		dir, b := t.TempDir(), bytes.Clone(whole)
		for range 1 + rng.IntN(40) {
			at := rng.IntN(len(b))
			if rng.IntN(2) == 0 { // where pages say what they are
				at = at/os.Getpagesize()*os.Getpagesize() + rng.IntN(64)
			}
			b[min(at, len(b)-1)] = byte(rng.Uint32())
		}
		if err := os.WriteFile(filepath.Join(dir, viewsFile), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if rng.IntN(2) == 0 {
			if err := os.WriteFile(filepath.Join(dir, viewsMark), []byte(viewsMarked+"b"), 0o600); err != nil {
				t.Fatal(err)
			}
		} else {
			vouch(t, dir)
		}
		useDamaged(t, w, dir)
	}
}

func useDamaged(t *testing.T, w *world, dir string) {
	ctx := context.Background()
	v, err := Open(dir, w.log, engine.Config{BootID: "b"})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer v.Close()
	// Any of these may meet the damage and say so; none may panic.
	_, _ = v.Recent(ctx, rows.RecentFilter{Limit: 1000})
	_, _ = v.Sessions(ctx, sessions.Filter{})
	_, _ = v.Files(ctx, files.Filter{})
	_, _ = v.Outcomes(ctx, outcomes.Filter{})
	_, _ = v.List(ctx)
	if err := v.CatchUp(ctx); err != nil {
		t.Fatalf("catch up: %v", err)
	}
}

// TestDamageMetWhileServing has a reader of a running Views meet damage: Run makes the file anew and goes on.
// TestDamagedValue: a value that a fold cannot trust is named as what is damaged, and the views are built anew.
func TestDamagedValue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	w.absent = true // so that the check below changes the flag of a row
	w.keep(w.start(s, events.TurnObservation, w.tool(s, "{}")), "same", "same")
	dir, _ := built(t, w)
	path := filepath.Join(dir, viewsFile)
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		groups := tx.Bucket([]byte("observations")).Bucket([]byte("groups"))
		key, value := groups.Cursor().First()
		return groups.Put(bytes.Clone(key), append(bytes.Clone(value), 0))
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	vouch(t, dir)
	w.say(s.Stream(), events.ID{}, events.ClaimChecked{
		Subject: w.rows[0], Claim: events.Claim{Kind: "commit", Value: "abc1234", Verdict: events.Verified},
	})
	v, said := reopenedSaying(t, dir, w.log, "b")
	follow.MustCatchUp(t, v)
	if got, want := said.String(), "table groups"; !strings.Contains(got, engine.ErrDamaged.Error()) || !strings.Contains(got, want) {
		t.Errorf("got %s, want it to say %q", got, want)
	}
}

// vouch has the mark beside the views in dir say that they are as they were left.
func vouch(t testing.TB, dir string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, viewsFile))
	if err != nil {
		t.Fatal(err)
	}
	mark := fmt.Sprintf("layout 2, closed at %d bytes, checksum %08x", len(b), crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	if err := os.WriteFile(filepath.Join(dir, viewsMark), []byte(mark), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDamageMetWhileServing has a reader of a running Views meet damage: Run makes the file anew and goes on.
func TestDamageMetWhileServing(t *testing.T) {
	t.Parallel()
	w := full(t)
	dir := t.TempDir()
	v := mustOpen(t, dir, w.log, engine.Config{})
	follow.MustCatchUp(t, v)
	content := dump(t, v)
	file := func() os.FileInfo {
		info, err := os.Stat(filepath.Join(dir, viewsFile))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return info
	}
	first := file()
	stop := follow.Run(t, v)
	err := v.Read(t.Context(), func(*engine.ReadTx) { panic("a page that is not what it should be") })
	if !errors.Is(err, engine.ErrDamaged) {
		t.Fatalf("read: got %v", err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Microsecond) {
		if now := file(); now != nil && (!os.SameFile(first, now) || !now.ModTime().Equal(first.ModTime())) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it was not made anew")
		}
	}
	follow.MustCatchUp(t, v)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(content, dump(t, v)); diff != "" {
		t.Fatalf("content (-want +got):\n%s", diff)
	}
}

func TestUncleanStop(t *testing.T) {
	t.Parallel()
	w := full(t)
	for _, c := range []struct {
		name, boot string
		clean      bool
		anew       bool
	}{
		{"clean, same boot", "b", true, false},
		{"clean, another boot", "c", true, false},
		{"killed, same boot", "b", false, false},
		{"killed, another boot", "c", false, true},
		{"killed, boot unknown", "", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, content := built(t, w)
			if !c.clean {
				if err := os.WriteFile(filepath.Join(dir, viewsMark), []byte(viewsMarked+"b"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			v, said := reopened(t, dir, w.log, c.boot)
			if anew := v.Position() == 0; anew != c.anew || anew != strings.Contains(said, "built anew") {
				t.Fatalf("built anew: got %v (%s), want %v", anew, said, c.anew)
			}
			follow.MustCatchUp(t, v)
			if diff := cmp.Diff(content, dump(t, v)); diff != "" {
				t.Fatalf("content (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnotherLog(t *testing.T) {
	t.Parallel()
	w := full(t)
	dir, _ := built(t, w)
	short := newWorld(t)
	short.open(0)
	v, said := reopened(t, dir, short.log, "b")
	if v.Position() != 0 || !strings.Contains(said, "ahead of the log") {
		t.Fatalf("views ahead of the log: at %d, said %s", v.Position(), said)
	}
	v.Close()
	if kept, err := filepath.Glob(filepath.Join(dir, "views.db.aside-*")); err != nil || len(kept) != 1 {
		t.Fatalf("kept of the old views: %q, %v", kept, err)
	}

	dir, _ = built(t, w)
	other := newWorld(t)
	for n := range 2000 {
		other.open(n)
	}
	v, said = reopened(t, dir, other.log, "b")
	if v.Position() != 0 || !strings.Contains(said, "another log") {
		t.Fatalf("views of another log: at %d, said %s", v.Position(), said)
	}
}

func TestInUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := t.TempDir()
	mustOpen(t, dir, w.log, engine.Config{})
	if _, err := Open(dir, w.log, engine.Config{}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Fatalf("second open: got %v", err)
	}
}

// lifeRecords is how many records a child applies at most in one life: no four children come to the end of the log.
const lifeRecords = 200

// TestKilled kills a program in the middle of catching up, again and again, and lets another one go on.
func TestKilled(t *testing.T) {
	race.SkipProcesses(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("starts programs")
	}
	dir := t.TempDir()
	log, err := eventlog.Open(filepath.Join(dir, "log.db"), eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.log = log
	for n := range 4 {
		s := w.open(n)
		for range 60 {
			w.keep(w.start(s, events.TurnObservation, w.tool(s, `{"file_path":"a.go"}`), w.tool(s, "")), fmt.Sprint("row ", w.ids%40))
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		applied := killChild(t, dir)
		log, err := eventlog.Open(filepath.Join(dir, "log.db"), eventlog.Config{Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		v, said := reopened(t, filepath.Join(dir, "views"), log, "b")
		if strings.Contains(said, "anew") {
			t.Fatalf("a kill alone made it begin anew: %s", said)
		}
		if last, err := log.Last(t.Context()); err != nil || v.Position() < applied || v.Position() >= last {
			t.Fatalf("views are at %d of %d (%v) after a child that had applied %d", v.Position(), last, err, applied)
		}
		if err := errors.Join(v.Close(), log.Close()); err != nil {
			t.Fatal(err)
		}
	}
	log, err = eventlog.Open(filepath.Join(dir, "log.db"), eventlog.Config{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	v, _ := reopened(t, filepath.Join(dir, "views"), log, "b")
	follow.MustCatchUp(t, v)
	fresh := mustOpen(t, t.TempDir(), log, engine.Config{})
	follow.MustCatchUp(t, fresh)
	if diff := cmp.Diff(dump(t, fresh), dump(t, v)); diff != "" {
		t.Fatalf("after kills (-fresh +got):\n%s", diff)
	}
	v.Close()
	fresh.Close()
}

// killChild starts a program that catches up in dir, kills it when it has applied something, and returns up to where that
// was for sure.
func killChild(t *testing.T, dir string) (applied events.Position) {
	t.Helper()
	child := crash.Start(t, "catch up", dir)
	child.WaitLines(3 + rand.IntN(lifeRecords/2))
	lines := child.Kill()
	if _, err := fmt.Sscan(lines[len(lines)-1], &applied); err != nil || applied == 0 {
		t.Fatalf("the child said %q (%v), want a position", lines[len(lines)-1], err)
	}
	return applied
}

// catchUpUntilKilled is the child of TestKilled.
func catchUpUntilKilled(args []string) int {
	dir := args[0]
	log, err := eventlog.Open(filepath.Join(dir, "log.db"), eventlog.Config{Timeout: time.Minute})
	if err == nil {
		telling := &tellingLog{Log: log}
		telling.views, err = Open(filepath.Join(dir, "views"), telling, engine.Config{BootID: "b", Pace: engine.Pace{Records: 2}})
		if err == nil {
			err = telling.views.CatchUp(context.Background())
		}
	}
	fmt.Fprintln(os.Stderr, "ended:", err)
	return 1
}

// tellingLog says on standard output, before it hands out a record, how far views have come. After lifeRecords records it
// hands out no more.
type tellingLog struct {
	eventlog.Log
	views *Views
}

func (l *tellingLog) All(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		n := 0
		for r, err := range l.Log.All(ctx, from) {
			for n == lifeRecords {
				time.Sleep(time.Hour)
			}
			n++
			fmt.Println(l.views.Position())
			if !yield(r, err) {
				return
			}
		}
	}
}
