package salvage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cmemd/cmemd/internal/durable"
)

// Replace puts the file at fresh, which is whole and synced, in the place of that at path, which is at keep from then on; nothing may be
// there. All three are in one folder. At every moment path is one of the two, whole, and each step is on disk before the next.
func Replace(path, fresh, keep string) error {
	if err := alsoAt(path, keep); err != nil {
		return fmt.Errorf("salvage: keep %s as %s: %w", path, keep, err)
	}
	if err := os.Rename(fresh, path); err != nil {
		return fmt.Errorf("salvage: %w", err)
	}
	return durable.SyncDir(filepath.Dir(path))
}

// alsoAt gives the file at path a second name, or a copy where the file system has no second names.
func alsoAt(path, keep string) error {
	if err := os.Link(path, keep); err != nil {
		if errors.Is(err, os.ErrExist) {
			return err
		}
		if err := durable.Copy(path, keep, 0o600); err != nil {
			return err
		}
	}
	return durable.SyncDir(filepath.Dir(keep))
}
