package relay

import (
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
	promised := map[string]bool{}
	const enough = 24
	for i := 0; i < 12 || len(promised) < enough && i < 400; i++ {
		var out, failed bytes.Buffer
		child := exec.Command(self)
		child.Env = append(os.Environ(), spoolUntilKilled+"="+home)
		child.Stdout, child.Stderr = &out, &failed
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(30+7*(i%40)) * time.Millisecond) // to die at another place each time
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait()
		if failed.Len() > 0 {
			t.Fatalf("a child failed: %s", failed.Bytes())
		}
		lines := strings.Split(out.String(), "\n")
		for _, id := range lines[:len(lines)-1] {
			promised[id] = true
		}
	}
	if len(promised) < enough {
		t.Fatalf("the children stored %d entries, too few to tell anything", len(promised))
	}
	checkWhole(t, home, promised)
}

// checkWhole reads the whole spool: each file in new is whole, and each promised delivery is there.
func checkWhole(t *testing.T, home string, promised map[string]bool) {
	t.Helper()
	stored := 0
	for e, err := range NewSpool(home).Each() {
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
	left, err := os.ReadDir(filepath.Join(home, "spool", "tmp"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d whole entries in new, %d leftovers in tmp", stored, len(left))
}
