package spool

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/ignore"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

var testTime = time.Date(2026, 11, 20, 18, 0, 0, 123456789, time.UTC)

func testEntry(body string) Entry {
	return Entry{Agent: "claude-code", Delivery: newDelivery(), OccurredAt: testTime, Body: []byte(body)}
}

func newDelivery() string { return uuid.Must(uuid.NewV7()).String() }

// mustPut stores an entry and returns it as it is to be read.
func mustPut(tb testing.TB, s *Spool, e Entry) Entry {
	tb.Helper()
	name, err := s.Put(e)
	if err != nil {
		tb.Fatalf("Put: %v", err)
	}
	e.Name = name
	return e
}

// keyed is the spool of a home in which a key was laid.
func keyed(tb testing.TB, home string) *Spool {
	tb.Helper()
	if err := LayKey(home, time.Now()); err != nil {
		tb.Fatal(err)
	}
	return New(home)
}

func mustNames(tb testing.TB, s *Spool) []string {
	tb.Helper()
	names, err := s.Names()
	if err != nil {
		tb.Fatalf("Names: %v", err)
	}
	return names
}

func TestSpoolKeepsAnEntry(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := keyed(t, home)
	if names := mustNames(t, s); len(names) != 0 {
		t.Fatalf("a new spool has %v", names)
	}
	want := mustPut(t, s, testEntry(`{"a":"b"}`))
	if prefix := fmt.Sprintf(".%020d-", testTime.UnixNano()); want.Name != prefix+want.Delivery {
		t.Errorf("name is %s, want %s%s", want.Name, prefix, want.Delivery)
	}
	got, err := s.Read(want.Name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for _, dir := range []string{"spool", "spool/tmp", "spool/tmp/sealed", "spool/new", "spool/bad"} {
		if info, err := os.Stat(filepath.Join(home, dir)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v; want mode 0700", dir, info.Mode(), err)
		}
	}
	if info, err := os.Stat(s.path(want.Name)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v; want mode 0600", info.Mode(), err)
	}
	if left, _ := os.ReadDir(filepath.Join(home, "spool/tmp/sealed")); len(left) != 0 {
		t.Errorf("left in tmp: %v", left)
	}
	if err := s.Remove(want.Name); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(want.Name); err != nil {
		t.Errorf("Remove again: %v", err)
	}
	if names := mustNames(t, s); len(names) != 0 {
		t.Errorf("after Remove: %v", names)
	}
}

func TestSpoolFormat(t *testing.T) {
	t.Parallel()
	s := keyed(t, t.TempDir())
	e := testEntry("{\"a\":\"x<private>s</private>\"}\n")
	e.Delivery = "019aa2ff-7c5b-7000-8000-000000000001"
	e = mustPut(t, s, e)
	data, err := os.ReadFile(s.path(e.Name))
	if err != nil {
		t.Fatal(err)
	}
	key, err := s.sealer.keys.Current()
	if err != nil {
		t.Fatal(err)
	}
	line, sealed, _ := bytes.Cut(data, []byte("\n"))
	clear := `{"v":2,"key":"` + key.ID() + `","delivery":"019aa2ff-7c5b-7000-8000-000000000001","occurred_at":"2026-11-20T18:00:00.123456789Z","bytes":` +
		strconv.Itoa(len(sealed)) + `}`
	if string(line) != clear {
		t.Errorf("the clear line is\n%s\nwant\n%s", line, clear)
	}
	got, err := s.sealer.keys.Open(key.ID(), data[:len(line)+1], sealed)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"v":1,"agent":"claude-code","delivery":"019aa2ff-7c5b-7000-8000-000000000001",` +
		`"occurred_at":"2026-11-20T18:00:00.123456789Z","cut":true,"bytes":10}` + "\n{\"a\":\"x\"}\n"
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSpoolRoundTrip(t *testing.T) {
	t.Parallel()
	s := keyed(t, t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(0, rapid.Int64Range(0, 1<<62).Draw(t, "nanos")).UTC()
		e := Entry{
			Agent:    rapid.StringMatching(`[a-z][a-z0-9_-]{0,20}`).Draw(t, "agent"),
			Delivery: newDelivery(), OccurredAt: at,
			Ignore: rapid.SliceOfN(rapid.Custom(drawSource), 1, 3).Draw(t, "ignore"),
			Body:   bytes.ReplaceAll(rapid.SliceOf(rapid.Byte()).Draw(t, "body"), []byte("<"), nil),
		}
		name, err := s.Put(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		e.Name = name
		if !bytes.Equal(got.Body, e.Body) {
			t.Fatalf("body is %q, want %q", got.Body, e.Body)
		}
		got.Body, e.Body = nil, nil
		if diff := cmp.Diff(e, got); diff != "" {
			t.Fatalf("-want +got\n%s", diff)
		}
	})
}

// drawSource draws an ignore file. Its text has no NUL: a hook leaves such a file out.
func drawSource(t *rapid.T) ignore.Source {
	return ignore.Source{Folder: "/" + rapid.StringMatching(`[a-z/ ]{0,9}`).Draw(t, "folder"), Text: rapid.StringMatching(`[ -~é\n]{0,30}`).Draw(t, "text")}
}

func TestUUIDs(t *testing.T) {
	t.Parallel()
	if id := newDelivery(); !isUUID(id) {
		t.Errorf("isUUID(%q) is false", id)
	}
	for _, s := range []string{"", "019aa2ff-7c5b-7000-8000-00000000000", "019aa2ff-7c5b-7000-8000-00000000000g", "019aa2ff07c5b-7000-8000-000000000001", "019AA2FF-7C5B-7000-8000-000000000001"} {
		if isUUID(s) {
			t.Errorf("isUUID(%q)", s)
		}
	}
}

func TestSpoolRefusesAnEntryWithoutNames(t *testing.T) {
	t.Parallel()
	s := keyed(t, t.TempDir())
	for _, e := range []Entry{
		{Agent: "claude-code", Delivery: "../../../etc/passwd"}, {Agent: "Claude Code", Delivery: newDelivery()}, {Delivery: newDelivery()},
	} {
		if _, err := s.Put(e); !errors.Is(err, ErrBadEntry) {
			t.Errorf("Put(%+v) = %v, want ErrBadEntry", e, err)
		}
	}
}

func TestSpoolReadsInTheOrderOfTime(t *testing.T) {
	t.Parallel()
	s := keyed(t, t.TempDir())
	var want []string
	for _, after := range []time.Duration{5, 3, 9, 1000000, 4} {
		e := testEntry("{}")
		e.OccurredAt = testTime.Add(after)
		want = append(want, mustPut(t, s, e).Name)
	}
	slices.Sort(want)
	if err := os.WriteFile(s.path(".hidden"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	last := time.Time{}
	for e, err := range allEntries(s) {
		if err != nil || e.OccurredAt.Before(last) {
			t.Fatalf("%s at %v after %v: %v", e.Name, e.OccurredAt, last, err)
		}
		last = e.OccurredAt
		got = append(got, e.Name)
		if err := s.Remove(e.Name); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestSpoolIsBounded(t *testing.T) {
	t.Parallel()
	s := keyed(t, t.TempDir())
	s.limit = 2000
	stored := 0
	for range 100 {
		if _, err := s.Put(testEntry(strings.Repeat("x", 300))); err != nil {
			if !errors.Is(err, ErrFull) {
				t.Fatal(err)
			}
			break
		}
		stored++
	}
	entries, size, err := s.Usage()
	if err != nil || entries != stored || size > s.limit || size < s.limit-500 {
		t.Errorf("stored %d; Usage = %d entries, %d bytes, %v; want the limit of %d nearly reached", stored, entries, size, err, s.limit)
	}
	if err := s.Remove(mustNames(t, s)[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(testEntry(strings.Repeat("x", 300))); err != nil {
		t.Errorf("after Remove: %v", err)
	}
}

func TestSpoolUsageOfManyIsEstimated(t *testing.T) {
	t.Parallel()
	s := keyed(t, t.TempDir())
	if err := s.makeFolders(); err != nil {
		t.Fatal(err)
	}
	const n, size = 3*spoolSample + 7, 10
	for i := range n {
		if err := os.WriteFile(s.path(fmt.Sprintf("%020d-x", i)), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	entries, used, err := s.Usage()
	if err != nil || entries != n || used != n*size {
		t.Errorf("Usage = %d, %d, %v; want %d, %d", entries, used, err, n, n*size)
	}
}

func TestSpoolTakesManyProcessesWorth(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	const writers, each = 8, 25
	keyed(t, home)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			s := New(home)
			for i := range each {
				if _, err := s.Put(testEntry(fmt.Sprintf(`{"n":%d}`, w*each+i))); err != nil {
					t.Errorf("Put: %v", err)
				}
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for e, err := range allEntries(keyed(t, home)) {
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		seen[string(e.Body)] = true
	}
	if len(seen) != writers*each {
		t.Errorf("%d different bodies, want %d", len(seen), writers*each)
	}
}

// TestSpoolThatIsHalfMade stores where another process makes the folders just now, or was killed while it did, and where a
// person has deleted one of them.
func TestSpoolThatIsHalfMade(t *testing.T) {
	t.Parallel()
	for _, there := range [][]string{{}, {"tmp"}, {"new"}, {"new", "bad"}, {"tmp", "bad"}, {"tmp", "new"}} {
		home := t.TempDir()
		for _, dir := range there {
			if err := os.MkdirAll(filepath.Join(home, "spool", dir), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		s := keyed(t, home)
		name, err := s.Put(testEntry(`{"a":1}`))
		if names := mustNames(t, s); err != nil || len(names) != 1 || names[0] != name {
			t.Errorf("with %v: Put = %q, %v; in new: %v", there, name, err, names)
		}
	}
}

// TestSpoolFoldersEndWithTmp: who finds tmp takes it that the others are there and on disk.
func TestSpoolFoldersEndWithTmp(t *testing.T) {
	t.Parallel()
	for _, taken := range []string{"new", "bad"} {
		home := t.TempDir()
		if err := os.Mkdir(filepath.Join(home, "spool"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, "spool", taken), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := keyed(t, home).makeFolders(); err == nil {
			t.Errorf("made %s where a file is", taken)
		}
		if _, err := os.Lstat(filepath.Join(home, "spool", "tmp")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("without %s: tmp: %v, want it missing", taken, err)
		}
	}
}

func TestSpoolNamesTheProblemOfABadFile(t *testing.T) {
	t.Parallel()
	good := `{"v":1,"agent":"codex","delivery":"019aa2ff-7c5b-7000-8000-000000000001","occurred_at":"2026-11-20T18:00:00Z","cut":false,"bytes":2}`
	for _, c := range []struct{ name, content, want string }{
		{"empty", "", "no header line"},
		{"no line end", good, "no header line"},
		{"a cut header", good[:40] + "\n{}", "the header is not JSON"},
		{"zeros", strings.Repeat("\x00", 100) + "\n", "the header is not JSON"},
		{"an array", "[1]\n{}", "no format number"},
		{"a newer format", strings.Replace(good, `"v":1`, `"v":3`, 1) + "\n{}", "format 3 is newer than 2"},
		{"a key that never was", strings.Replace(good, `"v":1`, `"v":2,"key":"0123456789abcdef"`, 1) + "\n{}", "sealed to a key that is gone"},
		{"a key that is none", strings.Replace(good, `"v":1`, `"v":2,"key":"../../token"`, 1) + "\n{}", "sealed to a key that is gone"},
		{"a sealed body that is cut", strings.Replace(good, `"v":1`, `"v":2,"key":"0123456789abcdef"`, 1) + "\n{", "has 1 of 2 bytes"},
		{"no format", strings.Replace(good, `"v":1`, `"v":"1"`, 1) + "\n{}", "no format number"},
		{"a hostile agent", strings.Replace(good, "codex", "../x", 1) + "\n{}", "no agent's name"},
		{"a hostile delivery", strings.Replace(good, "019aa2ff", "../../..", 1) + "\n{}", "no delivery id"},
		{"no time", strings.Replace(good, "2026-11", "2026-13", 1) + "\n{}", "no time"},
		{"a cut body", good + "\n{", "has 1 of 2 bytes"},
		{"a longer body", good + "\n{}}", "has 3 of 2 bytes"},
	} {
		s := keyed(t, t.TempDir())
		if err := s.makeFolders(); err != nil {
			t.Fatal(err)
		}
		const name = "00000000000000000001-x"
		if err := os.WriteFile(s.path(name), []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := s.Read(name)
		if !errors.Is(err, ErrBadEntry) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want %q of %s", c.name, err, c.want, name)
		}
		if diff := cmp.Diff(Entry{Name: name}, e); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

func TestSpoolTakesAHeaderWithoutLengthAndWithMore(t *testing.T) {
	t.Parallel()
	e, err := parseEntry([]byte(`{"v":1,"agent":"codex","delivery":"019aa2ff-7c5b-7000-8000-000000000001","occurred_at":"2026-11-20T18:00:00Z","later":[1,{"v":9}]}` + "\nbody\nbody"))
	if err != nil || string(e.Body) != "body\nbody" || e.Agent != "codex" {
		t.Errorf("got %+v, %v", e, err)
	}
}

func TestSpoolReadsOnlyRegularFilesOfBearableLength(t *testing.T) {
	t.Parallel()
	s := keyed(t, t.TempDir())
	if err := s.makeFolders(); err != nil {
		t.Fatal(err)
	}
	huge := s.path("huge")
	if err := os.WriteFile(huge, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, maxEntry+1); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(s.path("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", s.path("link")); err != nil {
		t.Skip("no symbolic links here")
	}
	for _, name := range []string{"huge", "folder", "link"} {
		if _, err := s.Read(name); !errors.Is(err, ErrBadEntry) {
			t.Errorf("%s: got %v, want ErrBadEntry", name, err)
		}
		if err := s.DeadLetter(name, "test"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if names := mustNames(t, s); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
}

func TestSpoolStaysInItsFolder(t *testing.T) {
	t.Parallel()
	s := keyed(t, t.TempDir())
	for _, name := range []string{"", ".", "..", "../tmp/x", "a/b", "/etc/passwd", ".x", "..00000000000000000001-x", ".reason"} {
		_, err := s.Read(name)
		for what, err := range map[string]error{"Read": err, "Remove": s.Remove(name), "DeadLetter": s.DeadLetter(name, "")} {
			if !errors.Is(err, ErrBadEntry) {
				t.Errorf("%s(%q) = %v, want ErrBadEntry", what, name, err)
			}
		}
	}
}

// An entry whose name the disk does not confirm is there nevertheless, and is named.
func TestSpoolUnsynced(t *testing.T) {
	t.Parallel()
	s := keyed(t, t.TempDir())
	s.Sync = func(string) error { return os.ErrInvalid }
	name, err := s.Put(testEntry("x"))
	if !errors.Is(err, ErrUnsynced) || !errors.Is(err, os.ErrInvalid) {
		t.Errorf("got %v, want both errors", err)
	}
	if names := mustNames(t, s); len(names) != 1 || names[0] != name {
		t.Errorf("waiting: %v, want %q", names, name)
	}
}

// The hook and the daemon may store one delivery at the same time.
func TestSpoolSameDelivery(t *testing.T) {
	t.Parallel()
	s := keyed(t, t.TempDir())
	e := testEntry("{}")
	if err := s.makeFolders(); err != nil {
		t.Fatal(err)
	}
	taken := filepath.Join(s.tmp(), e.Delivery) // what another one is writing
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	name := mustPut(t, s, e).Name
	if again := mustPut(t, s, e).Name; again != name || len(mustNames(t, s)) != 1 {
		t.Errorf("got %q and %q, %d entries; want one", name, again, len(mustNames(t, s)))
	}
}

func TestSpoolDeadLetters(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := keyed(t, home)
	e := mustPut(t, s, testEntry("{"))
	if err := s.DeadLetter(e.Name, "400: not JSON"); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(home, "spool", "bad", e.Name)
	data, err := os.ReadFile(bad)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.sealer.open(data); err != nil || string(got.Body) != "{" || got.Delivery != e.Delivery {
		t.Errorf("bad holds %+v, %v", got, err)
	}
	if got, err := os.ReadFile(bad + ".reason"); err != nil || string(got) != "400: not JSON\n" {
		t.Errorf("the reason is %q, %v", got, err)
	}
	if names := mustNames(t, s); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
	if err := s.DeadLetter(e.Name, "again"); err != nil {
		t.Errorf("DeadLetter again = %v, want nil: it is gone", err)
	}
	if got, err := os.ReadFile(bad + ".reason"); err != nil || string(got) != "400: not JSON\n" {
		t.Errorf("the reason is now %q, %v", got, err)
	}
	gone := "00000000000000000001-" + e.Delivery
	if err := s.DeadLetter(gone, "gone"); err != nil {
		t.Errorf("DeadLetter of what never was = %v, want nil", err)
	}
	if _, err := os.Lstat(filepath.Join(home, "spool", "bad", gone+".reason")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a reason without its file: %v", err)
	}
}

func FuzzParseEntry(f *testing.F) {
	f.Add([]byte(`{"v":1,"agent":"codex","delivery":"019aa2ff-7c5b-7000-8000-000000000001","occurred_at":"2026-11-20T18:00:00Z","cut":true,"bytes":2}` + "\n{}"))
	f.Add([]byte("{}\n{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := parseEntry(data)
		if err != nil {
			if !errors.Is(err, ErrBadEntry) {
				t.Fatalf("parseEntry(%q) = %v, want ErrBadEntry", data, err)
			}
			return
		}
		again, err := parseEntry(append(appendHeader(nil, e), e.Body...))
		if err != nil {
			t.Fatalf("what parseEntry(%q) read does not read again: %v", data, err)
		}
		if diff := cmp.Diff(e, again); diff != "" {
			t.Fatalf("-want +got\n%s", diff)
		}
	})
}

func BenchmarkSpoolPut(b *testing.B) {
	s := keyed(b, b.TempDir())
	e := testEntry(`{"tool_response":"` + strings.Repeat("x", 1000) + `"}`)
	for b.Loop() {
		e.Delivery = newDelivery()
		name, err := s.Put(e)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Remove(name); err != nil {
			b.Fatal(err)
		}
	}
}

// allEntries yields the entries that wait in s, oldest first. One that cannot be read comes as an error with its name.
func allEntries(s *Spool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		names, err := s.Names()
		if err != nil {
			yield(Entry{}, err)
		}
		for _, name := range names {
			if e, err := s.Read(name); !yield(e, err) {
				return
			}
		}
	}
}

// TestRetry: dead letters come back among what waits as they were, with their reasons gone; a letter without a reason comes too.
func TestRetry(t *testing.T) {
	t.Parallel()
	s := keyed(t, t.TempDir())
	if n, err := s.Retry(); n != 0 || err != nil {
		t.Errorf("of none: %d, %v", n, err)
	}
	entries := []Entry{testEntry(`{"a":1}`), testEntry(`{"b":2}`)}
	// The names begin with the times, and what waits is listed by its name: one nanosecond makes the order certain.
	entries[1].OccurredAt = entries[1].OccurredAt.Add(time.Nanosecond)
	var names []string
	for _, e := range entries {
		names = append(names, mustPut(t, s, e).Name)
		if err := s.DeadLetter(names[len(names)-1], "the log is damaged"); err != nil {
			t.Fatal(err)
		}
	}
	letters, err := s.DeadLetters()
	if err != nil || len(letters) != 2 || letters[0].Reason != "the log is damaged" {
		t.Fatalf("%+v, %v", letters, err)
	}
	if err := os.Remove(filepath.Join(s.BadDir(), letters[1].Name+reasonSuffix)); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Retry(); n != 2 || err != nil {
		t.Errorf("brought back %d, %v", n, err)
	}
	waiting, err := s.Names()
	if err != nil || len(waiting) != 2 {
		t.Fatalf("%q, %v", waiting, err)
	}
	for i, name := range waiting {
		got, err := s.Read(name)
		want := entries[i]
		want.Name = name
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	if left, err := os.ReadDir(s.BadDir()); err != nil || len(left) != 0 {
		t.Errorf("left in bad: %v, %v", left, err)
	}
}
