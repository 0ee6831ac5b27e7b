package capture

import (
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
)

// TestDeadLetterKeepsItsDelivery: a hook that names no time keeps its id in the bad folder.
func TestDeadLetterKeepsItsDelivery(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	id := newID()
	in := Posted{Agent: "claude-code", Delivery: id.String(), OccurredAt: "yesterday", Came: time.Now(), Body: []byte("{}")}
	if _, err := w.client.Post(t.Context(), in); err == nil {
		t.Error("a time that is none was taken")
	}
	if files, _ := badFiles(t, w.home); len(files) != 1 || !strings.HasSuffix(files[0], id.String()) {
		t.Errorf("got %v, want the one of %s", files, id)
	}
}

func FuzzHookHeaders(f *testing.F) {
	for _, s := range []string{"", "x", newID().String(), "{" + newID().String() + "}", strings.Repeat("0", 36), "00000000-0000-0000-0000-000000000000"} {
		f.Add(s, "2026-11-20T10:00:00Z")
	}
	for _, s := range []string{"", "1677-09-21T00:12:43Z", "2262-04-12T00:00:00Z", "2026-11-20T10:00:00.999999999+14:00", "0000-01-01T00:00:00Z"} {
		f.Add("", s)
	}
	f.Fuzz(func(t *testing.T, delivery, occurred string) {
		id, err := parseDelivery(delivery)
		if err == nil && delivery != "" && !strings.EqualFold(id.String(), delivery) {
			t.Errorf("delivery %q became %v", delivery, id)
		}
		if err != nil && id != (events.ID{}) {
			t.Errorf("delivery %q: %v beside %v", delivery, id, err)
		}
		at, err := parseOccurred(occurred)
		if err == nil && !at.IsZero() && !time.Unix(0, at.UnixNano()).Equal(at) {
			t.Errorf("time %q does not survive its nanoseconds: %v", occurred, at)
		}
	})
}
