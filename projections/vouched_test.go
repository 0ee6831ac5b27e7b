package projections

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/testkit/crash"
	"github.com/cmemd/cmemd/testkit/race"
)

// makeViews is the child of TestSyncedBeforeTheMarkVouches.
func makeViews(args []string) int {
	log, err := eventlog.Open(filepath.Join(args[0], "log.db"), eventlog.Config{})
	if err == nil {
		var v *Views
		if v, err = Open(filepath.Join(args[0], "views"), log, engine.Config{BootID: "b"}); err == nil {
			err = errors.Join(v.CatchUp(context.Background()), v.Close())
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestSyncedBeforeTheMarkVouches: the mark says that the file is as it is to be found only once that is on disk, and does not where it
// could not be put there.
func TestSyncedBeforeTheMarkVouches(t *testing.T) {
	race.SkipProcesses(t)
	t.Parallel()
	const written, synced, vouched = "pwrite " + viewsFile, "sync " + viewsFile, "pwrite " + viewsMark
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	made := func(fault crash.Fault) (calls []string, code int, mark string) {
		dir := t.TempDir()
		p := crash.Trace(t, crash.Program{
			Args: []string{self, dir}, Env: append(os.Environ(), "CMEMD_TEST_ROLE=make views"), Dir: filepath.Join(dir, "views"), Armed: true, Fault: fault,
		})
		code, said, err := p.Wait()
		text, readErr := os.ReadFile(filepath.Join(dir, "views", viewsMark))
		if err := errors.Join(err, readErr); err != nil {
			t.Fatalf("%v; it said %s", err, said)
		}
		return p.Calls(), code, string(text)
	}
	calls, code, mark := made(crash.Fault{})
	last, syncs := -1, 0
	for i, c := range calls {
		switch c {
		case vouched:
			last = i
		case synced:
			syncs++
		}
	}
	if last < 0 || code != 0 || strings.HasPrefix(mark, viewsMarked) {
		t.Fatalf("ended with %d, the mark says %q; calls:\n%s", code, mark, strings.Join(calls, "\n"))
	}
	before := slices.Clone(calls[:last])
	slices.Reverse(before)
	if w, s := slices.Index(before, written), slices.Index(before, synced); s < 0 || w < s {
		t.Errorf("the file is not synced between its last change and the mark; calls before it, the last first:\n%s", strings.Join(before, "\n"))
	}
	_, code, mark = made(crash.Fault{Call: synced, Nth: syncs - 1, Errno: syscall.EIO})
	if code == 0 || !strings.HasPrefix(mark, viewsMarked) {
		t.Errorf("after a sync that failed it ended with %d, and the mark says %q", code, mark)
	}
}
