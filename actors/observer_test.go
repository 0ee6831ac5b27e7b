package actors

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// TestWhatAServiceSaysIsScrubbed has a service repeat the key that it refuses.
func TestWhatAServiceSaysIsScrubbed(t *testing.T) {
	const key = "sk-ant-api03-AbCdEf0123456789"
	refusing := providertest.Fail(observer.Failure{Class: events.FailAuth, Message: "invalid key " + key})
	bubble(t, func(w *world) {
		w.work("s", 1)
		w.stopAgent("s")
		synctest.Wait()
		failed := all[events.TurnFailed](w)
		if len(failed) != 1 || strings.Contains(failed[0].Message, key) || !strings.Contains(failed[0].Message, "invalid key") {
			t.Errorf("got %+v, want one failure without the key", failed)
		}
	}, refusing)
}
