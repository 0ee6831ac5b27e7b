package spool

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cmemd/cmemd/testkit/crash"
	"github.com/cmemd/cmemd/testkit/race"
)

func TestMain(m *testing.M) {
	roles := systemRoles()
	roles["spool for ever"], roles["spool"] = spoolForever, playSpool
	os.Exit(crash.Main(m, roles))
}

// spoolForever puts entries with bodies of many pages, whose every byte is told by the first.
func spoolForever(args []string) int {
	s := New(args[0])
	for i := 0; ; i++ {
		e := Entry{Agent: "codex", Delivery: newDelivery(), OccurredAt: time.Now()}
		e.Body = bytes.Repeat([]byte{byte('a' + i%26)}, 300_000+i)
		if _, err := s.Put(e); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(e.Delivery)
	}
}

func TestKilledSpoolerLeavesNothingHalf(t *testing.T) {
	race.SkipProcesses(t)
	t.Parallel()
	home := t.TempDir()
	keyed(t, home)
	promised := map[string]bool{}
	const kills = 24
	for i := range kills {
		// Half of them may die before they store anything. The pause only has them die at another place each time.
		for _, id := range killSpooler(t, home, i%2*2, time.Duration(7*i)*time.Millisecond) {
			promised[id] = true
		}
	}
	if len(promised) < kills {
		t.Fatalf("the children stored %d entries, want two of each second one at least", len(promised))
	}
	checkWhole(t, home, promised)
}

// killSpooler starts a child that spools, kills it when it has stored n entries and a while has passed, and returns the
// deliveries that it says are stored.
func killSpooler(t *testing.T, home string, n int, while time.Duration) (stored []string) {
	t.Helper()
	child := crash.Start(t, "spool for ever", home)
	child.WaitLines(n)
	time.Sleep(while)
	return child.Kill()
}

// checkWhole reads the whole spool: each file in new is whole, and each promised delivery is there.
func checkWhole(t *testing.T, home string, promised map[string]bool) {
	t.Helper()
	stored := 0
	for e, err := range allEntries(keyed(t, home)) {
		if err != nil {
			t.Errorf("in new: %v", err)
			continue
		}
		if len(e.Body) < 300_000 || len(bytes.Trim(e.Body, string(e.Body[:1]))) != 0 {
			t.Errorf("%s has a broken body", e.Name)
		}
		delete(promised, e.Delivery)
		stored++
	}
	if len(promised) != 0 {
		t.Errorf("%d entries were promised and are not there", len(promised))
	}
	left, err := os.ReadDir(filepath.Join(home, "spool", "tmp", "sealed"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d whole entries in new, %d leftovers in tmp", stored, len(left))
}
