package wiretest

import (
	"runtime"
	"testing"
	"time"
)

// Run checks api, each rule as a subtest.
func Run(t *testing.T, api API) {
	t.Helper()
	s := suite{api: api}
	before := runtime.NumGoroutine()
	for _, r := range []struct {
		name  string
		check func(*testing.T)
	}{
		{"answers", s.answers}, {"outcomes", s.outcomes}, {"borders", s.borders}, {"cuts", s.cuts}, {"slow", s.slow},
		{"cancelled", s.cancelled}, {"impostors", s.impostors}, {"unreachable", s.unreachable}, {"redirected", s.redirected},
		{"refusals", s.refusals}, {"retries", s.retries}, {"forms", s.forms},
		{"form by hand", s.formByHand}, {"thinking", s.thinking}, {"count", s.count}, {"secrets", s.secrets}, {"another key", s.anotherKey},
		{"provider", s.provider}, {"service", s.behaves},
	} {
		t.Run(r.name, r.check)
	}
	if err := waitForGoroutines(before, 5*time.Second); err != nil {
		t.Errorf("goroutines: %v", err)
	}
}
