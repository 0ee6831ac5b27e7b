package eventlog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/crash"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/race"
	"github.com/cmemd/cmemd/testkit/seeded"
)

const (
	crashRounds  = 20
	crashWriters = 16
)

// appendUntilKilled appends from 16 goroutines, one to three events at a time, and prints the position and first text
// of each append once it is acknowledged. A text is "round/writer/append/event/events". With a third argument the log is
// compacted again and again meanwhile.
func appendUntilKilled(args []string) int {
	path, round := args[0], args[1]
	l, err := eventlog.Open(path, eventlog.Config{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var wg sync.WaitGroup
	if len(args) > 2 {
		wg.Go(func() {
			for l.Compact(context.Background()) == nil {
			}
		})
	}
	for w := range crashWriters {
		wg.Go(func() {
			stream := logtest.Session(fmt.Sprint(w))
			version, _, err := l.Head(context.Background(), stream)
			for i := 0; err == nil; i++ {
				drafts := make([]events.Draft, 1+i%3)
				for k := range drafts {
					drafts[k] = logtest.Draft(fmt.Sprintf("%s/%d/%d/%d/%d", round, w, i, k, len(drafts)))
				}
				var records []events.Record
				if records, err = l.Append(context.Background(), stream, version, drafts...); err == nil {
					version += events.Version(len(drafts))
					fmt.Printf("%d %s/%d/%d/0/%d\n", records[0].Position, round, w, i, len(drafts))
				}
			}
			fmt.Fprintln(os.Stderr, err)
		})
	}
	wg.Wait()
	return 1
}

// TestCrash kills a process in the middle of appends, again and again. Nothing that was acknowledged may be missing,
// nothing may be there twice or in part.
func TestCrash(t *testing.T) {
	t.Parallel()
	killInTheMiddle(t)
}

// TestCrashWhileCompacting is TestCrash with the file replaced by a new one all the time. Nothing is left beside it.
func TestCrashWhileCompacting(t *testing.T) {
	t.Parallel()
	path := killInTheMiddle(t, "compact")
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v, %v; want the log alone", left, err)
	}
}

func killInTheMiddle(t *testing.T, more ...string) (path string) {
	t.Helper()
	race.SkipProcesses(t)
	path = filepath.Join(t.TempDir(), "log")
	random := seeded.New(t)
	acknowledged := map[string]events.Position{}
	for round := range crashRounds {
		child := crash.Start(t, "append", append([]string{path, fmt.Sprint(round)}, more...)...)
		child.WaitLines(1)
		time.Sleep(time.Duration(random.IntN(40_000)) * time.Microsecond) // the moment is the point
		for _, line := range child.Kill() {
			var p events.Position
			var text string
			if _, err := fmt.Sscan(line, &p, &text); err != nil {
				t.Fatalf("line %q: %v", line, err)
			}
			acknowledged[text] = p
		}
		checkAfterCrash(t, path, acknowledged)
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d appends were acknowledged in %d lives", len(acknowledged), crashRounds)
	return path
}

func checkAfterCrash(t *testing.T, path string, acknowledged map[string]events.Position) {
	t.Helper()
	l := openLog(t, path)
	defer mustClose(t, l)
	mustVerify(t, l)
	all := contents(t, l)
	seen := map[string]bool{}
	for i, text := range all {
		if seen[text] {
			t.Errorf("%s is there twice", text)
		}
		seen[text] = true
		if !wholeAt(all, i) {
			t.Errorf("the append of %s at %d is torn", text, i+1)
		}
	}
	for text, p := range acknowledged {
		if int(p) > len(all) || all[p-1] != text {
			t.Errorf("%s was acknowledged at %d and is not there", text, p)
		}
	}
}

// wholeAt reports whether the event at index i stands among all events of its append.
func wholeAt(all []string, i int) bool {
	f := strings.Split(all[i], "/")
	var k, n int
	fmt.Sscan(f[3], &k)
	fmt.Sscan(f[4], &n)
	if i-k < 0 || i-k+n > len(all) {
		return false
	}
	for j := range n {
		if all[i-k+j] != fmt.Sprintf("%s/%s/%s/%d/%d", f[0], f[1], f[2], j, n) {
			return false
		}
	}
	return true
}
