package seeded

import (
	"fmt"
	"testing"
)

// TestNew: what a test prints repeats it.
func TestNew(t *testing.T) {
	first := &noting{TB: t}
	want := New(first).Uint64()
	if _, err := fmt.Sscanf(first.said, "-seed %d", seed); err != nil {
		t.Fatalf("a test prints %q: %v", first.said, err)
	}
	defer func(was uint64) { *seed = was }(0)
	if got := New(t).Uint64(); got != want {
		t.Errorf("seed %d draws %d, want %d", *seed, got, want)
	}
}

// noting keeps what a test prints.
type noting struct {
	testing.TB
	said string
}

func (n *noting) Logf(format string, args ...any) { n.said = fmt.Sprintf(format, args...) }
