package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/observer/extractive"
	"github.com/cmemd/cmemd/testkit/crash"
	"github.com/cmemd/cmemd/testkit/race"
)

func TestMain(m *testing.M) {
	os.Exit(crash.Main(m, map[string]crash.Role{"drain": func(args []string) int {
		if err := drainHome(args[0]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}}))
}

// drainHome goes once through the spool of a home, into the log there.
func drainHome(home string) (err error) {
	log, err := eventlog.Open(filepath.Join(home, "log.db"), eventlog.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	sys, err := actors.New(actors.Config{Log: log, Providers: []actors.Route{{Provider: extractive.New(), Free: true}}})
	if err != nil {
		return err
	}
	p, err := New(Config{Log: log, Sink: sys, Injections: nothingInjected{}, Home: home, Spool: spool.New(home)})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	ready, ran := make(chan struct{}), make(chan error, 1)
	go func() { ran <- sys.Run(ctx, ready) }()
	<-ready
	drain, stopDrain := context.WithCancel(ctx)
	var drained sync.WaitGroup
	drained.Go(func() { err = p.Drain(drain) })
	<-p.Drained()
	stopDrain()
	drained.Wait()
	stop()
	return errors.Join(err, <-ran)
}

// TestTheDrainIsKilledBetweenSteps: whatever a drain had done when it was killed, after the next one each entry is in the log once,
// what cannot be taken is a dead letter once, and the spool is empty.
func TestTheDrainIsKilledBetweenSteps(t *testing.T) {
	race.SkipProcesses(t)
	if testing.Short() {
		t.Skip("starts some 30 processes")
	}
	t.Parallel()
	crash.EachStep(t, "drain", func(t *testing.T, home string, kill func(...string) string) {
		w := &world{home: home}
		for n, id := range []string{"a", "b", "c"} {
			w.spool(t, "claude-code", newID(), n, toolUse(fmt.Sprint("s", n/2), id, "echo "+unsaid, ""))
		}
		leaveInTmp(t, home, w.spool(t, "claude-code", newID(), 3, toolUse("s1", "d", "echo "+unsaid, "")))
		w.spool(t, "claude-code", newID(), 4, []byte(`{"n":"`+unsaid))
		step := kill(home)
		age(t, filepath.Join(home, "spool", "tmp", "sealed"))
		age(t, filepath.Join(home, "spool", "bad"))
		if err := drainHome(home); err != nil {
			t.Errorf("killed before %q: %v", step, err)
		}
		if got := toolsOf(t, home); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
			t.Errorf("killed before %q: in the log are %v", step, got)
		}
		if payloads, reasons := badFiles(t, home); len(payloads) != 1 || len(reasons) != 1 {
			t.Errorf("killed before %q: dead letters %q for %q", step, payloads, reasons)
		}
		for _, path := range spoolFiles(t, home) {
			data, err := os.ReadFile(path)
			if err != nil || bytes.Contains(data, []byte(unsaid)) || !strings.Contains(path, "/bad/") {
				t.Errorf("killed before %q: left is %s: %q, %v", step, path, data, err)
			}
		}
	})
}

// leaveInTmp puts a spooled file where its hook has left it that was killed a while ago.
func leaveInTmp(t *testing.T, home, name string) {
	t.Helper()
	tmp := filepath.Join(home, "spool", "tmp", "sealed")
	if err := os.Rename(filepath.Join(home, "spool", "new", name), filepath.Join(tmp, "left")); err != nil {
		t.Fatal(err)
	}
	age(t, tmp)
}

// age makes the files of a folder an hour older than they are.
func age(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	old := time.Now().Add(-time.Hour)
	for _, f := range files {
		err = errors.Join(err, os.Chtimes(f, old, old))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// toolsOf are the ids of the tool uses in the log of a home that nobody has open, in order.
func toolsOf(t *testing.T, home string) (ids []string) {
	t.Helper()
	log, err := eventlog.OpenReadOnly(filepath.Join(home, "log.db"), eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for r, err := range log.All(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e, err := r.Event(); err != nil {
			t.Fatal(err)
		} else if tool, ok := e.(events.ToolUsed); ok {
			ids = append(ids, tool.ToolUseID)
		}
	}
	slices.Sort(ids)
	return ids
}

// spoolFiles are the paths of all files in the spool of a home.
func spoolFiles(t *testing.T, home string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(home, "spool"), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}
