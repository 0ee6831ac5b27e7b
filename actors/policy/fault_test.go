package policy

import (
	"testing"
	"time"
)

func TestAfterFaults(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]struct {
		wait time.Duration
		park bool
	}{1: {}, 2: {wait: time.Second}, 3: {park: true}, 4: {park: true}} {
		if wait, park := AfterFaults(n); wait != want.wait || park != want.park {
			t.Errorf("%d faults: got %v, %v, want %+v", n, wait, park, want)
		}
	}
}
