package homedir

import (
	"errors"
	"io/fs"
	"os"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/owned"
)

// CheckParents returns an error wrapping owned.ErrOthers if another user of this machine could rename, replace or remove what
// is on the way to a folder: then all that is kept, and the socket that hooks trust, could be theirs.
func CheckParents(folder string) error {
	at, err := owned.Parents(folder)
	if !errors.Is(err, owned.ErrOthers) {
		return err
	}
	info, looked := os.Lstat(at)
	switch {
	case looked == nil && info.Mode()&fs.ModeSymlink != 0:
		return terminal.Advise(err, "let CMEMD_HOME name a folder that no link of theirs leads to")
	case looked == nil && owned.IsAnothers(info):
		return terminal.Advise(err, "run it as that user, without sudo, or let HOME or CMEMD_HOME name a folder of your own")
	}
	return terminal.Advise(err, "take the right away with chmod go-w %s, or let CMEMD_HOME name another folder", at)
}
