package eventlog

import (
	"bytes"
	"testing"

	"github.com/cmemd/cmemd/events"
)

// TestHeadsStandSideBySide: the stored forms of heads share a buffer, and none is written over by another.
func TestHeadsStandSideBySide(t *testing.T) {
	var a arena
	heads := []head{{Version: 1, Last: 2, Chain: events.Hash{3}}, {Version: 4, Last: 5, Chain: events.Hash{6}}}
	var stored [][]byte
	for _, h := range heads {
		stored = append(stored, a.head(h))
	}
	for i, h := range heads {
		if want := h.appendTo(nil); !bytes.Equal(stored[i], want) {
			t.Errorf("got %x, want %x", stored[i], want)
		}
	}
	if n := testing.AllocsPerRun(20, func() { a.head(heads[0]) }); n > 0 {
		t.Errorf("%.0f allocations for a head, want none", n)
	}
}
