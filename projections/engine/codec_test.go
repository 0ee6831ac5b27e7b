package engine

import (
	"bytes"
	"testing"
	"time"
)

func TestTimeOrder(t *testing.T) {
	t.Parallel()
	times := []time.Time{{}, time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(-1, 0), time.Unix(0, 0), time.Unix(0, 1), time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), time.Date(2900, 1, 1, 0, 0, 0, 0, time.UTC)}
	for i := 1; i < len(times); i++ {
		if a, b := TimeBits(times[i-1]), TimeBits(times[i]); a > b {
			t.Errorf("%v comes after %v", times[i-1], times[i])
		}
	}
	if !bytes.Equal(TimeKey(ProjectID{}, time.Time{}, 1), TimeKey(ProjectID{}, times[1], 1)) {
		t.Error("times before all others differ")
	}
}
