package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/cmemd/cmemd/events"
)

// TestCursorText: a cursor comes back as it went, with marks of the rows that were shown, and is short enough for a parameter.
func TestCursorText(t *testing.T) {
	t.Parallel()
	ids := make([]events.ID, maxMarks)
	for i := range ids {
		ids[i] = uuid.Must(uuid.NewV7())
	}
	full := Cursor{AsOf: 1 << 40, Passed: maxMarks, Row: ids[0]}.WithMarks(nil, ids...)
	for _, c := range []Cursor{{At: 7}, {AsOf: 9, Passed: 3, Row: ids[1]}, full} {
		text, err := c.MarshalText()
		if err != nil || len(text) > MaxParam {
			t.Fatalf("%d bytes, %v", len(text), err)
		}
		var back Cursor
		if err := back.UnmarshalText(text); err != nil || !cmp.Equal(c, back) {
			t.Errorf("got %+v, %v, want %+v", back, err, c)
		}
	}
	marked := full.Marked()
	if !marked(ids[0]) || !marked(ids[maxMarks-1]) || marked(uuid.Must(uuid.NewV7())) {
		t.Error("the marks are of other rows")
	}
	if some := (Cursor{Passed: 3}).WithMarks(nil, ids[0], ids[1]); some.Marked() != nil {
		t.Error("two marks are taken for those of three rows")
	}
	if more := (Cursor{Passed: maxMarks + 1}).WithMarks(full.Shown, ids[0]); more.Marked() != nil {
		t.Errorf("got marks of %d bytes, want none", len(more.Shown))
	}
	for _, text := range []string{"", "x!", "eyJwIjotMX0", "bnVsbA=="} {
		if err := new(Cursor).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken for a cursor", text)
		}
	}
}
