package homedir

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
)

// A Room is how many bytes are free on the disk of a home, and how many its settings keep free.
type Room struct {
	Free int64 `json:"free_bytes"`
	Kept int64 `json:"kept_bytes"`
}

// RoomOf asks the system how much room there is for home, which need not be there yet, and of which kept bytes are kept free.
func RoomOf(home string, kept int64) (Room, error) {
	free, err := eventlog.FreeBytes(nearestFolder(home))
	if err != nil {
		return Room{}, err
	}
	return Room{Free: int64(min(free, 1<<62)), Kept: kept}, nil
}

// String says how much is free, and how much is kept so.
func (r Room) String() string {
	return fmt.Sprintf("%s free, %s are kept free (min_free_bytes)", terminal.Size(r.Free), terminal.Size(r.Kept))
}

// Full reports whether the log takes nothing any more.
func (r Room) Full() bool { return r.Free < r.Kept }

// Check is an error with what to do about it where nothing is captured for want of room. There is none where r is nil.
func (r *Room) Check() error {
	if r == nil || !r.Full() {
		return nil
	}
	return terminal.Advise(fmt.Errorf("nothing is captured: %s", r), "make room on the disk; hooks keep what they report in the spool meanwhile")
}

// nearestFolder is path, or the folder above it that exists.
func nearestFolder(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}
