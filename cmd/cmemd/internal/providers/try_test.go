package providers

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/setting"
)

// TestEveryFailureHasARemedy: whatever a provider's failure is, a person is told what to do.
func TestEveryFailureHasARemedy(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, name := range setting.ProviderNames() {
		for _, class := range events.FailureClasses() {
			x := &trial{Provider: name, key: "the variable K"}
			x.fail(&observer.Failure{Class: class, Message: "m"})
			if x.Failure.Next == "" || x.Err() == nil || terminal.NextStep(x.Err()) != x.Failure.Next {
				t.Errorf("%s, %s: %+v", name, class, x.Failure)
			}
			seen[x.Failure.Next] = true
		}
	}
	if len(seen) < 9 {
		t.Errorf("only %d remedies", len(seen))
	}
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	x := &trial{Provider: "openai"}
	x.fail(&observer.Failure{Class: events.FailLimit, ResetsAt: at})
	if !strings.Contains(x.Failure.Next, "wait until "+terminal.Moment(at)) {
		t.Errorf("got %q", x.Failure.Next)
	}
	x.fail(errors.New("exit status 2"))
	if x.Failure.Class != events.FailCrash {
		t.Errorf("got %+v, want a crash", x.Failure)
	}
}
