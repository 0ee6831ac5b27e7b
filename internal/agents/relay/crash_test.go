package relay

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/testkit/race"
)

// spoolUntilKilled is set for the child of TestKilledSpoolerLeavesNothingHalf: the home it spools to.
const spoolUntilKilled = "RELAY_TEST_SPOOL_UNTIL_KILLED"

func TestMain(m *testing.M) {
	if home := os.Getenv(spoolUntilKilled); home != "" {
		spoolForever(home)
	}
	os.Exit(m.Run())
}

// spoolForever puts entries with bodies of many pages, whose every byte is told by the first.
func spoolForever(home string) {
	s := NewSpool(home)
	for i := 0; ; i++ {
		e := Entry{Agent: "codex", Delivery: newDelivery(time.Now()), OccurredAt: time.Now()}
		e.Body = bytes.Repeat([]byte{byte('a' + i%26)}, 300_000+i)
		if _, err := s.Put(e); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(e.Delivery)
	}
}

func TestKilledSpoolerLeavesNothingHalf(t *testing.T) {
	race.SkipProcesses(t)
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	keyed(t, home)
	promised := map[string]bool{}
	const kills = 24
	for i := range kills {
		// Half of them may die before they store anything. The pause only has them die at another place each time.
		for _, id := range killSpooler(t, self, home, i%2*2, time.Duration(7*i)*time.Millisecond) {
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
func killSpooler(t *testing.T, self, home string, n int, while time.Duration) (stored []string) {
	t.Helper()
	var failed bytes.Buffer
	child := exec.Command(self)
	child.Env = append(os.Environ(), spoolUntilKilled+"="+home)
	child.Stderr = &failed
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	next := func() bool {
		line, err := said.ReadString('\n')
		if err == nil { // what stands after the last newline is no delivery
			stored = append(stored, strings.TrimSuffix(line, "\n"))
		}
		return err == nil
	}
	for len(stored) < n && next() {
	}
	time.Sleep(while)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for next() {
	}
	_ = child.Wait()
	if failed.Len() > 0 {
		t.Fatalf("a child failed: %s", failed.Bytes())
	}
	return stored
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
