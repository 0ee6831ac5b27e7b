package relay

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestNewDelivery(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i := range 1000 {
		at := testTime.Add(time.Duration(i) * time.Millisecond)
		id := newDeliveryID(at)
		u, err := uuid.Parse(id)
		if err != nil || u.Version() != 7 || u.Variant() != uuid.RFC4122 || !isUUID(id) {
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
	for _, s := range []string{"", "019aa2ff-7c5b-7000-8000-00000000000", "019aa2ff-7c5b-7000-8000-00000000000g", "019aa2ff07c5b-7000-8000-000000000001", "019AA2FF-7C5B-7000-8000-000000000001"} {
		if isUUID(s) {
			t.Errorf("isUUID(%q)", s)
		}
	}
}
