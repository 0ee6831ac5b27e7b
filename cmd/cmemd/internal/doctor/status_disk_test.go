package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// TestFullDisk: a disk with less room than is kept free is full, also while another setting is wrong.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for settings, full := range map[string]bool{
		"":                                 false,
		"min_free_bytes = 0\n":             false,
		"min_free_bytes = 1099511627776\n": true,
		"min_free_bytes = 1099511627776\nslots = \"many\"\n": true,
		"slots = \"many\"\n": false,
	} {
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(home, config.FileName), []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		a := &terminal.App{HomeDir: home, Getenv: func(string) string { return "" }}
		if room, err := homedir.RoomOf(home, 1<<40); full && (err != nil || !room.Full()) {
			continue // more is free than any setting keeps
		}
		if room := fullDisk(a, home); (room != nil) != full {
			t.Errorf("%q: got %v, want full %t", settings, room, full)
		}
	}
}
