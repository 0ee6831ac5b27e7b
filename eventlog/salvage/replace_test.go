package salvage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/salvage"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/crash"
	"github.com/cmemd/cmemd/testkit/logtest"
)

func TestMain(m *testing.M) { os.Exit(crash.Main(m, map[string]crash.Role{"replace": replaceLog})) }

// replaceLog salvages log.db in a folder, in its place.
func replaceLog(args []string) int {
	path := filepath.Join(args[0], "log.db")
	if err := replaceAt(path, filepath.Join(args[0], "kept")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func replaceAt(path, kept string) error {
	file, err := eventlog.OpenLocked(path, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	s, err := salvage.Read(context.Background(), file, info.Size(), salvage.Config{})
	if err != nil {
		return err
	}
	dir, err := eventlog.CopyFolder(path)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fresh := filepath.Join(dir, "log")
	if err := s.Write(context.Background(), fresh, filepath.Base(kept), nil); err != nil {
		return err
	}
	return salvage.Replace(path, fresh, kept)
}

// TestReplaceKilled kills a salvage before each of its steps: the log is the damaged one or the new one, whole, and the damaged one is never
// gone. What is left beside it the next opening of the log removes.
func TestReplaceKilled(t *testing.T) {
	t.Parallel()
	o := newOriginal(t, seededRandom(8), 10, true)
	damaged := bytes.Clone(o.file)
	clear(damaged[bytes.Index(damaged, o.stored[5]):][:120])
	crash.EachStep(t, "replace", func(t *testing.T, dir string, kill func(args ...string) string) {
		path, kept := filepath.Join(dir, "log.db"), filepath.Join(dir, "kept")
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		step := kill(dir)
		if is, err := os.ReadFile(path); err != nil || bytes.Equal(is, damaged) && step != "" {
			if err = errors.Join(err, os.Remove(kept)); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("before %q: %v", step, err)
			}
			if err := replaceAt(path, kept); err != nil { // again
				t.Fatalf("before %q: %v", step, err)
			}
		}
		if was, err := os.ReadFile(kept); err != nil || !bytes.Equal(was, damaged) {
			t.Errorf("before %q: the damaged log is not kept: %v", step, err)
		}
		log, err := eventlog.Open(path, eventlog.Config{})
		if err != nil {
			t.Fatalf("before %q: %v", step, err)
		}
		defer log.Close()
		if err := eventlog.Verify(t.Context(), log, nil); err != nil || logtest.Count(t, log, events.KindRecordLost) != 1 {
			t.Errorf("before %q: %v", step, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
			t.Errorf("before %q: the folder holds %v, %v", step, left, err)
		}
	})
}

func TestReplaceKeeps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"log.db", "fresh", "kept"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := salvage.Replace(in("log.db"), in("fresh"), in("kept")); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v", err)
	}
	if b, err := os.ReadFile(in("kept")); err != nil || string(b) != "kept" {
		t.Errorf("got %q, %v", b, err)
	}
}
