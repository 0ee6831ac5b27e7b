package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/internal/transient"
)

// wrap says which call failed, and marks what may pass: all that the system says but for what it does not allow. An error of this
// package's, or of store's, is as it is.
func wrap(name, key string, err error) error {
	if err == nil {
		return nil
	}
	if transient.IsFull(err) {
		err = fmt.Errorf("%w: %w", store.ErrFull, err)
	}
	if says(err) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		err = transient.Mark(err)
	}
	return fmt.Errorf("folder: %s %s: %w", name, key, err)
}

// says reports whether err is what the system said.
func says(err error) bool {
	var path *fs.PathError
	var errno syscall.Errno
	return (errors.As(err, &path) || errors.As(err, &errno)) && !errors.Is(err, store.ErrDamaged)
}
