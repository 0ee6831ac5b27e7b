package relay

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestNewDelivery(t *testing.T) {
	t.Parallel()
	begun, seen := time.Date(2026, 11, 20, 18, 0, 0, 123456789, time.UTC), map[string]bool{}
	for i := range 1000 {
		at := begun.Add(time.Duration(i) * time.Millisecond)
		id := newDeliveryID(at)
		u, err := uuid.Parse(id)
		if err != nil || u.Version() != 7 || u.Variant() != uuid.RFC4122 || u.String() != id {
			t.Fatalf("newDelivery = %s, %v: version %v, variant %v", id, err, u.Version(), u.Variant())
		}
		if s, ns := u.Time().UnixTime(); time.Unix(s, ns).UnixMilli() != at.UnixMilli() {
			t.Fatalf("the time in %s is %v, want %v", id, time.Unix(s, ns), at)
		}
		if seen[id] {
			t.Fatalf("%s twice", id)
		}
		seen[id] = true
	}
}
