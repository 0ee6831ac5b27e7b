package doctor

import (
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/internal/api"
)

// TestFullDisk: a disk with less room than the daemon keeps free is full, whatever its settings would be with the next start.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if room, err := homedir.RoomOf(home, 1<<40); err != nil || !room.Full() {
		t.Skipf("more is free than any setting keeps: %+v, %v", room, err)
	}
	for kept, full := range map[string]bool{"0": false, "1024GiB": true, "1099511627776": true, "": false, "much": false} {
		s := api.Status{Home: home, Settings: map[string]string{"min_free_bytes": kept}}
		if room := fullDisk(s); (room != nil) != full {
			t.Errorf("%q: got %v, want full %t", kept, room, full)
		}
	}
}
