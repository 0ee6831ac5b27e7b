package eventlog_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/crash"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// holdLog opens a log, for reading if told so, and keeps it until it is killed.
func holdLog(args []string) int {
	open := eventlog.Open
	if args[1] == "reading" {
		open = eventlog.OpenReadOnly
	}
	l, err := open(args[0], eventlog.Config{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("holding")
	for l.Err() == nil { // a bare wait for Done would have nothing left to run: the runtime ends such a process
		time.Sleep(time.Minute)
	}
	return 0
}

func TestLocked(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"writing", "reading"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "log")
			mustClose(t, openLog(t, path))
			child := crash.Start(t, "hold", path, how)
			child.WaitLines(1)
			var err error
			took := time.Hour
			for range 5 { // the machine may stand still meanwhile
				began := time.Now()
				_, err = eventlog.Open(path, eventlog.Config{Timeout: 200 * time.Millisecond})
				if took = min(took, time.Since(began)); took < time.Second {
					break
				}
			}
			if took >= time.Second {
				t.Errorf("Open took %s, where the holder is to be named within a second", took)
			}
			checkLocked(t, err, path, child.PID())
			if how == "writing" {
				_, err := eventlog.OpenReadOnly(path, eventlog.Config{Timeout: time.Millisecond})
				checkLocked(t, err, path, child.PID())
			}
			child.Kill()
			openLog(t, path)
		})
	}
}

func checkLocked(t *testing.T, err error, path string, pid int) {
	t.Helper()
	var locked *eventlog.LockedError
	if !errors.As(err, &locked) || !errors.Is(err, eventlog.ErrLocked) {
		t.Fatalf("Open: got %v, want ErrLocked", err)
	}
	if locked.Path != path {
		t.Errorf("path: got %s, want %s", locked.Path, path)
	}
	if locked.PID == 0 {
		t.Skip("this system does not tell who holds a lock")
	}
	if want := filepath.Base(os.Args[0]); locked.PID != pid || locked.Command != want {
		t.Errorf("got %v, want process %d (%s)", err, pid, want)
	}
}

// TestReplacedFile opens a log that is replaced, as Compact does, while Open waits for the lock on the old file.
func TestReplacedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	old := openLog(t, path)
	mustAppend(t, old, logtest.Session("a"), 0, "kept")
	opened := make(chan *eventlog.Bolt)
	go func() {
		l, err := eventlog.Open(path, eventlog.Config{Timeout: time.Minute})
		if err != nil {
			t.Errorf("Open: %v", err)
		}
		opened <- l
	}()
	time.Sleep(120 * time.Millisecond) // the lock is another process's business: there is nothing to wait on
	if err := old.Backup(t.Context(), path); err != nil {
		t.Fatalf("Backup: %v", err)
	}
	mustClose(t, old)
	l := <-opened
	if l == nil {
		return
	}
	mustAppend(t, l, logtest.Session("a"), 1, "new")
	mustClose(t, l)
	if got := contents(t, openLog(t, path)); len(got) != 2 {
		t.Errorf("the file at the path holds %q, want both", got)
	}
}

func TestNotLog(t *testing.T) {
	t.Parallel()
	other := func(buckets ...string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			rawUpdate(t, path, func(tx *bbolt.Tx) error {
				for _, name := range buckets {
					if _, err := tx.CreateBucket([]byte(name)); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	for name, test := range map[string]struct {
		make func(t *testing.T, path string)
		want error
	}{
		"text":                 {fileOf("hello\n"), eventlog.ErrNotLog},
		"long text":            {fileOf(strings.Repeat("hello\n", 10_000)), eventlog.ErrNotLog},
		"zeros":                {fileOf(strings.Repeat("\x00", 5*pageSize)), eventlog.ErrNotLog},
		"SQLite":               {fileOf("SQLite format 3\x00" + strings.Repeat("\x00", 3*pageSize)), eventlog.ErrNotLog},
		"another database":     {other("users"), eventlog.ErrNotLog},
		"without heads":        {other("log"), eventlog.ErrNotLog},
		"without format":       {other("log", "head"), eventlog.ErrNotLog},
		"format of wrong size": {withFormat([]byte{1}), eventlog.ErrNotLog},
		"newer":                {withFormat(binary.BigEndian.AppendUint32(nil, 8)), eventlog.ErrNewerFormat},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "log")
			test.make(t, path)
			was, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for what, open := range map[string]func(string, eventlog.Config) (*eventlog.Bolt, error){
				"Open": eventlog.Open, "OpenReadOnly": eventlog.OpenReadOnly,
			} {
				_, err = open(path, eventlog.Config{})
				if !errors.Is(err, test.want) || !strings.Contains(fmt.Sprint(err), path) {
					t.Errorf("%s: got %v, want %v with the path", what, err, test.want)
				}
			}
			if name == "newer" && !strings.Contains(err.Error(), "8") {
				t.Errorf("%q does not name the format", err)
			}
			if is, err := os.ReadFile(path); err != nil || string(is) != string(was) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

func fileOf(text string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func withFormat(v []byte) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		mustClose(t, openLog(t, path))
		rawUpdate(t, path, func(tx *bbolt.Tx) error { return tx.Bucket([]byte("head")).Put([]byte("\x00format"), v) })
	}
}

// rawUpdate changes a log's file behind its back.
func rawUpdate(t *testing.T, path string, f func(tx *bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Update(f); err != nil {
		t.Fatal(err)
	}
}

func TestEmptyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	fileOf("")(t, path)
	l := openLog(t, path)
	mustAppend(t, l, logtest.Session("a"), 0, "first")
	mustVerify(t, l)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode: got %v, %v", info.Mode(), err)
	}
}

func TestMode(t *testing.T) {
	t.Parallel()
	l := tempLog(t)
	info, err := os.Stat(l.Path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of a new log: got %v, %v, want 0600", info.Mode(), err)
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	if _, err := eventlog.OpenReadOnly(path, eventlog.Config{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("OpenReadOnly of nothing: got %v, want fs.ErrNotExist", err)
	}
	l := openLog(t, path)
	records := mustAppend(t, l, logtest.Session("a"), 0, "1", "2")
	mustClose(t, l)
	for range 2 { // two at once
		l, err := eventlog.OpenReadOnly(path, eventlog.Config{})
		if err != nil {
			t.Fatalf("OpenReadOnly: %v", err)
		}
		defer mustClose(t, l)
		mustVerify(t, l)
		if got := contents(t, l); len(got) != 2 {
			t.Errorf("got %q", got)
		}
		_, err = l.Append(t.Context(), logtest.Session("a"), 2, logtest.Draft("3"))
		for what, err := range map[string]error{
			"Append": err, "Erase": l.Erase(t.Context(), 1), "Restore": l.Restore(t.Context(), records...),
		} {
			if !errors.Is(err, eventlog.ErrReadOnly) {
				t.Errorf("%s: got %v, want ErrReadOnly", what, err)
			}
		}
	}
}

func TestNoFolder(t *testing.T) {
	t.Parallel()
	_, err := eventlog.Open(filepath.Join(t.TempDir(), "none", "log"), eventlog.Config{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

// TestFormatRises: an older program, which does not know a kind, refuses the file by its number from the first record of it on.
func TestFormatRises(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	stream := events.SessionIDOf("claude-code", "s").Stream()
	for version, step := range []struct {
		event events.Event
		want  uint32
	}{
		{events.SessionOpened{Agent: "claude-code"}, 1},
		{events.ToolUsed{Tool: "Edit"}, 1},
		{events.AgentSaid{Text: "The limit is read twice."}, 2},
		{events.AgentStopped{}, 2},
		{events.PreferenceStated{Sentence: "Always run the tests first."}, 3},
		{events.AgentStopped{}, 3},
		{events.ForgetRequested{Request: events.ID{1}, Positions: []events.Position{2}}, 4},
		{events.AgentStopped{}, 4},
	} {
		log := openLog(t, path)
		draft := events.Draft{ID: events.ID{15: byte(version + 1)}, OccurredAt: time.Unix(1, 0), Event: step.event}
		if _, err := log.Append(t.Context(), stream, events.Version(version), draft); err != nil {
			t.Fatal(err)
		}
		if got := formatOf(t, log); got != step.want {
			t.Errorf("format %d with %T, want %d", got, step.event, step.want)
		}
	}
}

// formatOf closes a log and returns the number of its format.
func formatOf(t *testing.T, log *eventlog.Bolt) (format uint32) {
	t.Helper()
	mustClose(t, log)
	rawUpdate(t, log.Path(), func(tx *bbolt.Tx) error {
		format = binary.BigEndian.Uint32(tx.Bucket([]byte("head")).Get([]byte("\x00format")))
		return nil
	})
	return format
}

// TestLostTables: a log without one of its tables is damaged, and not another program's.
func TestLostTables(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(tx *bbolt.Tx) error
		want   error
	}{
		"without records":       {func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("log")) }, events.ErrCorrupt},
		"without heads":         {func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("head")) }, events.ErrCorrupt},
		"without format number": {func(tx *bbolt.Tx) error { return emptied(tx, "head") }, events.ErrCorrupt},
		"without both but what was before a salvage": {func(tx *bbolt.Tx) error {
			return errors.Join(tx.DeleteBucket([]byte("log")), tx.DeleteBucket([]byte("head")))
		}, events.ErrCorrupt},
		"a newer format without them": {func(tx *bbolt.Tx) error {
			return errors.Join(tx.DeleteBucket([]byte("log")), tx.Bucket([]byte("head")).Put([]byte("\x00format"), []byte{0, 0, 0, 99}))
		}, eventlog.ErrNewerFormat},
		"another program's": {func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucket([]byte("theirs"))
			return errors.Join(err, b.Put([]byte("12345678"), []byte("x")), emptied(tx, "log"), tx.DeleteBucket([]byte("head")), tx.DeleteBucket([]byte("before")))
		}, eventlog.ErrNotLog},
	} {
		path := filepath.Join(t.TempDir(), "log")
		log := openLog(t, path)
		r := mustAppend(t, log, logtest.Session("a"), 0, "1")[0]
		if err := log.KeepBefore(t.Context(), eventlog.Before{Position: r.Position, Version: 2}); err != nil {
			t.Fatal(err)
		}
		mustClose(t, log)
		db, err := bbolt.Open(path, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Update(c.change), db.Close()); err != nil {
			t.Fatal(err)
		}
		log, err = eventlog.Open(path, eventlog.Config{})
		if err == nil {
			mustClose(t, log)
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// emptied makes a bucket anew.
func emptied(tx *bbolt.Tx, name string) error {
	err := tx.DeleteBucket([]byte(name))
	_, made := tx.CreateBucket([]byte(name))
	return errors.Join(err, made)
}
