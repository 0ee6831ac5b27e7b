package spool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/cmemd/cmemd/internal/durable"
)

// ErrBadEntry is wrapped in what the reading side of a Spool returns for a file that no second reading will mend:
// truncated, hostile, too long, of a newer format. Such a file is a dead letter; any other error is the disk's.
var ErrBadEntry = errors.New("bad spool file")

// readBounded is durable.ReadBounded. It wraps ErrBadEntry where the file is to blame and not the disk.
func readBounded(path string, limit int64) ([]byte, error) {
	data, err := durable.ReadBounded(path, limit)
	if durable.IsUnfit(err) {
		err = fmt.Errorf("%w: %w", ErrBadEntry, err)
	}
	return data, err
}

// readLine reads the first line of a regular file, or as much of it as a header could have. What is gone, or is no file, has none.
func readLine(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
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
