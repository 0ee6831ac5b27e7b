package relay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
)

// maxSmallFile bounds the small files of home/run; each holds one short JSON object.
const maxSmallFile = 64 << 10

// errLocked means that another process holds the lock.
var errLocked = errors.New("relay: the lock is held by another process")

// lockWait is how long a hook waits for another one that counts or spools; both take well under a millisecond.
const lockWait = 50 * time.Millisecond

// lockFile takes the lock that the file at path stands for, trying for up to wait. unlock gives it
// back, as does the end of the process. It returns errLocked if another process keeps it.
func lockFile(path string, wait time.Duration) (*os.File, error) {
	const pause = 2 * time.Millisecond
	for {
		f, err := tryLock(path)
		if !errors.Is(err, errLocked) || wait <= 0 {
			return f, err
		}
		time.Sleep(pause)
		wait -= pause
	}
}

// readBounded is durable.ReadBounded. It wraps ErrBadEntry where the file is to blame and not the disk.
func readBounded(path string, limit int64) ([]byte, error) {
	data, err := durable.ReadBounded(path, limit)
	if errors.Is(err, durable.ErrIrregular) || errors.Is(err, durable.ErrTooLong) {
		err = fmt.Errorf("%w: %w", ErrBadEntry, err)
	}
	return data, err
}

// readLine reads the first line of a regular file, or as much of it as a header could have.
func readLine(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, ignoreMissing(err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	defer f.Close()
	head := make([]byte, maxHeadLine)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return line, nil
}

// maxHeadLine is longer than the clear line of any sealed file, in bytes.
const maxHeadLine = 1 << 10

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// readDir lists a folder; one that is not there is empty.
func readDir(dir string) ([]fs.DirEntry, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return files, err
}

// writeSynced writes a new file and returns when it is on disk; it calls written, if there is one, when all of it was
// handed to the system. On an error nothing is left.
func writeSynced(path string, written func(), parts ...[]byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err == nil {
			_, err = f.Write(p)
		}
	}
	if err == nil && written != nil {
		written()
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// syncFile returns when a file is on disk.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// ErrBadEntry is wrapped in what the reading side of a Spool returns for a file that no second reading will mend:
// truncated, hostile, too long, of a newer format. Such a file is a dead letter; any other error is the disk's.
var ErrBadEntry = errors.New("bad spool file")
