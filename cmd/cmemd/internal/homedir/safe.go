package homedir

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// errOpenToOthers is a home that others could put something else in the place of.
var errOpenToOthers = errors.New("others may write there")

// CheckParents returns errOpenToOthers if another user of this machine could rename, replace or remove what is on the way to
// a folder: then all that is kept, and the socket that hooks trust, could be theirs. Folders with the sticky bit, like
// /tmp, let nobody do that.
func CheckParents(folder string) error {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return err
	}
	for at := real; ; at = filepath.Dir(at) {
		why, err := writableByOthers(at)
		if err != nil {
			return err
		}
		if why != "" {
			return terminal.Advise(fmt.Errorf("%w: %s, on the way to %s, %s", errOpenToOthers, at, folder, why),
				"take the right away with chmod go-w %s, or let CMEMD_HOME name another folder", at)
		}
		if filepath.Dir(at) == at {
			return nil
		}
	}
}
