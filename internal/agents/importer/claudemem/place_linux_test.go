package claudemem

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cmemd/cmemd/internal/agents/importer"
	"github.com/cmemd/cmemd/testkit/sqlite"
)

// closed is a database that its program has closed, alone in a folder.
func closed(t *testing.T, statements ...string) string {
	t.Helper()
	path, w := filled(t, statements...)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// unwritable makes a file and its folder such that the program that it returns, whoever runs this test, cannot write them.
func unwritable(t *testing.T, path string) (program string) {
	t.Helper()
	dir := filepath.Dir(path)
	for name, mode := range map[string]os.FileMode{path: 0o444, dir: 0o555, filepath.Dir(dir): 0o755} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	program = sqlite.Program(t)
	if os.Geteuid() != 0 {
		return program
	}
	run, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip("this test is run by root, and there is no setpriv to be somebody else by")
	}
	code, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	own := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\nexec %s --reuid=65534 --clear-groups -- %s/program \"$@\"\n", run, own)
	if err := errors.Join(os.Chmod(filepath.Dir(own), 0o755), os.WriteFile(filepath.Join(own, "program"), code, 0o755),
		os.WriteFile(filepath.Join(own, "nobody"), []byte(script), 0o755)); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(own, "nobody")
}

func beside(t *testing.T, path string) []string {
	t.Helper()
	list, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range list {
		if f.Name() != filepath.Base(path) {
			names = append(names, strings.TrimPrefix(f.Name(), filepath.Base(path)))
		}
	}
	return names
}

// A database is read from where nothing can be written.
func TestUnwritable(t *testing.T) {
	for _, c := range []struct {
		name string
		left []string // beside it, empty
		want error
	}{
		{"closed", nil, nil},
		{"with an empty log", []string{"-wal"}, nil},
		{"with an empty log and index", []string{"-wal", "-shm"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := closed(t, twoSessions()...)
			for _, end := range c.left {
				if err := os.WriteFile(path+end, nil, 0o444); err != nil {
					t.Fatal(err)
				}
			}
			_, plan := planBy(t, unwritable(t, path), path, Config{})
			if n := len(entriesOf(t, plan)); n != 9 {
				t.Errorf("%d entries, want 9", n)
			}
		})
	}
}

// What stands in a write-ahead log alone is not passed over in silence.
func TestUnwritableWithLog(t *testing.T) {
	path, w := filled(t, twoSessions()...)
	copied := filepath.Join(t.TempDir(), "copy.db")
	for _, end := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + end)
		if err != nil || len(b) == 0 {
			t.Fatalf("%d bytes, %v", len(b), err)
		}
		if err := os.WriteFile(copied+end, b, 0o444); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := Open(t.Context(), unwritable(t, copied), copied)
	if !errors.Is(err, ErrUnwritable) || !strings.Contains(err.Error(), copied) {
		t.Fatalf("got %v (%v), want ErrUnwritable with the path", err, db)
	}
}

// What was never committed is not taken for memory: a journal says what the file was before.
func TestJournal(t *testing.T) {
	t.Parallel()
	path, w := filled(t, twoSessions()...)
	copied := filepath.Join(t.TempDir(), "copy.db")
	for _, statement := range []string{
		"PRAGMA journal_mode = delete", "PRAGMA cache_size = 1", "BEGIN",
		"UPDATE observations SET title = 'UNCOMMITTED', narrative = hex(randomblob(20000))",
	} {
		run(t, w, statement)
	}
	for _, end := range []string{"", "-journal"} {
		b, err := os.ReadFile(path + end)
		if err != nil || len(b) == 0 {
			t.Fatalf("%s: %d bytes, %v", end, len(b), err)
		}
		if err := os.WriteFile(copied+end, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := Open(t.Context(), sqlite.Program(t), copied)
	if err == nil {
		db.Close()
	}
	if !errors.Is(err, ErrUnwritable) || !strings.Contains(err.Error(), copied) {
		t.Errorf("got %v, want ErrUnwritable with the path", err)
	}
}

// Nothing is left beside a database that nobody has open, nor taken from beside one.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	for _, left := range [][]string{nil, {"-wal"}} {
		path := closed(t, twoSessions()...)
		for _, end := range left {
			if err := os.WriteFile(path+end, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		link := filepath.Join(t.TempDir(), "link.db")
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{path, link} {
			db, plan := planOf(t, name, Config{})
			if n := len(entriesOf(t, plan)); n != 9 {
				t.Errorf("%d entries, want 9", n)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			if got := beside(t, path); !slices.Equal(got, left) {
				t.Errorf("beside %s lies %q, want %q", name, got, left)
			}
		}
	}
	path, _ := filled(t, twoSessions()...)
	db, _ := planOf(t, path, Config{})
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if got := beside(t, path); !slices.Equal(got, []string{"-shm", "-wal"}) {
		t.Errorf("beside one that is open lies %q", got)
	}
}

// A link's own neighbours say nothing of who has the database open.
func TestLinkToOneInUse(t *testing.T) {
	t.Parallel()
	path, _ := filled(t, twoSessions()...) // its rows stand in the log beside it
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	_, plan := planOf(t, link, Config{})
	if n := len(entriesOf(t, plan)); n != 9 {
		t.Errorf("%d entries, want 9", n)
	}
}

// Its program begins to write after all: what is read then is not trusted.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	path := closed(t, twoSessions()...)
	_, plan := planOf(t, path, Config{})
	now, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	later := now.ModTime().Add(1)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	for _, err = range plan.Entries(t.Context()) {
		if err != nil {
			break
		}
	}
	if !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want ErrChanged with the path", err)
	}
}

// Of a database that was cut, what is left is read, and nothing is made up for what is not.
func TestCut(t *testing.T) {
	t.Parallel()
	statements := twoSessions()
	for i := range 400 {
		statements = append(statements, fmt.Sprintf(`INSERT INTO user_prompts VALUES (%d, 8, 'c-1', %d, '%s', '', %d)`,
			i+10, i+3, strings.Repeat("word ", 300), noon+i*1000))
	}
	path := closed(t, statements...)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()/2+777); err != nil { // in the middle of a page
		t.Fatal(err)
	}
	_, plan := planOf(t, path, Config{})
	all := entriesOf(t, plan)
	counted(t, plan, all)
	if err := plan.Damage(); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want ErrDamaged with the path", err)
	}
	for _, e := range all {
		if e.Kind == importer.Prompt && strings.HasPrefix(e.Text, "word") && len(e.Text) != 1500 {
			t.Errorf("%s is read as %q", e.Name, e.Text)
		}
	}
	if n := plan.Rows()[importer.Prompt]; n < 100 || n >= 402 || len(all) < 100 {
		t.Errorf("%d prompts are known and %d entries read of 403", n, len(all))
	}
}

// TestPipe: what is no regular file is refused before it is opened, and waits for nobody: the database, and what lies beside it.
func TestPipe(t *testing.T) {
	t.Parallel()
	for _, beside := range []string{"", "-wal", "-journal", "-shm"} {
		path := filepath.Join(t.TempDir(), "claude-mem.db")
		if beside != "" {
			path = closed(t, "CREATE TABLE bookmarks (id INTEGER PRIMARY KEY, url TEXT)")
		}
		if err := unix.Mkfifo(path+beside, 0o600); err != nil {
			t.Skip("no pipes here:", err)
		}
		opened, program := make(chan error, 1), sqlite.Program(t)
		go func() {
			_, err := Open(t.Context(), program, path)
			opened <- err
		}()
		select {
		case err := <-opened:
			if !errors.Is(err, ErrNotSQLite) {
				t.Errorf("%q: got %v", beside, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%q: it waits for somebody who writes", beside)
		}
	}
}
