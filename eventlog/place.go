package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
)

// place is where an open file has its name. Only the writer uses it once the log is open.
type place struct {
	path   string
	file   os.FileInfo // of the open file
	folder os.FileInfo // in which it has its name; nil: not known
	size   int64       // that the file had at the last look: it never shrinks
}

// placeOf is where file is, which was just opened at path.
func placeOf(file *os.File, path string) (place, error) {
	info, err := file.Stat()
	if err != nil {
		return place{}, err
	}
	folder, _ := os.Stat(filepath.Dir(path)) // unknown: see moved
	return place{path: path, file: info, folder: folder, size: info.Size()}, nil
}

// check returns an ErrExchanged if the path names another file or none, and a *CorruptError if the file has become shorter. What
// the system cannot tell is no mismatch: what is written to the open file is not lost by it.
func (p *place) check() error {
	now, err := os.Stat(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: %s is not there any more", ErrExchanged, p.path)
	case err != nil:
		return nil
	case !os.SameFile(now, p.file):
		return fmt.Errorf("%w: %s is another file now", ErrExchanged, p.path)
	case now.Size() < p.size:
		return corruptf(0, "", "%s was cut from %d to %d bytes while it was open", p.path, p.size, now.Size())
	}
	p.size = now.Size()
	return nil
}

// CheckInPlace returns nil if the log's path still names the file that the log has open. Otherwise the log ends, as at an append.
func (b *Bolt) CheckInPlace(ctx context.Context) error {
	return b.writer.do(ctx, &request{alone: func() error { return nil }}) // which is done only in place
}

// isAt reports whether path names file.
func isAt(file *os.File, path string) bool {
	a, err := file.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

// moved reports whether the folder of the log has gone to another place, or cannot be found.
func (p *place) moved() bool {
	now, err := os.Stat(filepath.Dir(p.path))
	return err != nil || p.folder != nil && !os.SameFile(now, p.folder)
}

// HeldPrefix begins the names of the files that SaveHeld makes, behind the name of the log.
const HeldPrefix = ".held-"

// SaveHeld saves a log that ended with ErrExchanged, of which there may be no other copy. It copies the file that the
// log has open to a new one beside the log's path, named by the time at, and returns where that is once it is on disk. Where the
// file was moved with the log's folder, it is whole there: nothing is copied, and its path is returned, or an empty one where the
// system does not know it. It must be called before Close. Errors are the file system's; it may be called again then.
func (b *Bolt) SaveHeld(at time.Time) (path string, err error) {
	p := b.writer.place
	if p.moved() {
		if named, where := nameOf(b.file); named {
			return where, nil
		}
	}
	info, err := b.file.Stat()
	if err != nil {
		return "", fmt.Errorf("eventlog: save the open file: %w", err)
	}
	path = durable.NameAt(p.path, HeldPrefix, at)
	_, err = durable.ReplaceWith(path, 0o600, func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(b.file, 0, info.Size()))
		return err
	})
	if err != nil {
		return "", fmt.Errorf("eventlog: save the open file: %w", err)
	}
	return path, nil
}
