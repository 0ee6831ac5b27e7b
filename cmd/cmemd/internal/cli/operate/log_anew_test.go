package operate

import (
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// TestBegunAnewMeanwhile: a yes that comes late, after somebody else began anew, does not move the new log away.
func TestBegunAnewMeanwhile(t *testing.T) {
	t.Parallel()
	p, _ := clitest.TempHome(t)
	if err := os.WriteFile(p.Log, []byte(strings.Repeat("no log", 10000)), 0o600); err != nil {
		t.Fatal(err)
	}
	app := func(errors io.Writer) *terminal.App {
		a, _, _ := clitest.AppAt(p.Home)
		a.Err, a.Now = errors, time.Now
		return a
	}
	meanwhile := sync.OnceFunc(func() {
		if err := beginAnew(t.Context(), app(io.Discard), false, true); err != nil {
			t.Error(err)
		}
		log, err := eventlog.Open(p.Log, eventlog.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eventlog.AppendEnd(t.Context(), log, events.Daemon, logtest.Draft("words")); err != nil {
			t.Error(err)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	asked := writerFunc(func(b []byte) (int, error) { // what is shown stands there while the person thinks
		meanwhile()
		return len(b), nil
	})
	if err := beginAnew(t.Context(), app(asked), false, true); err == nil || !strings.Contains(err.Error(), "no log was lost") {
		t.Errorf("got %v", err)
	}
	log, err := eventlog.OpenReadOnly(p.Log, eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if last, err := log.Last(t.Context()); err != nil || last != 1 {
		t.Errorf("the log ends at %d, %v", last, err)
	}
}

type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
