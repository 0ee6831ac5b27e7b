package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/cmemd/cmemd/internal/durable"
)

const (
	// dirtyFile is there while a store is open, and after a stop that was not clean. Earlier releases look at nothing without it.
	dirtyFile = "dirty"

	// closedFile is written at a clean stop, where there is room: the checksum of rootFile, which has none of its own.
	closedFile = "closed"
	rootFile   = "root.bolt"

	// maxNote is longer than what is in closedFile or currentFile, in bytes.
	maxNote = 1 << 10
)

// errDamaged is a store that cannot be trusted; it is made anew from the log.
var errDamaged = errors.New("index: damaged")

// fault marks an error of scorch as damage, unless it has another cause: the system refused something, another process has the store
// open, ctx is done, or the store was closed.
func fault(err error) error {
	if err == nil || errors.Is(err, errDamaged) || errors.Is(err, errStoreClosed) || errors.Is(err, errUnwritten) || errors.Is(err, bolterrors.ErrTimeout) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || isOfSystem(err) {
		return err
	}
	return fmt.Errorf("%w: %w", errDamaged, err)
}

// isOfSystem reports whether the operating system refused, for want of room or rights or because the disk fails. That a file is
// not there, or is none, is damage.
func isOfSystem(err error) bool {
	number, ok := errors.AsType[syscall.Errno](err)
	return ok && !errors.Is(err, fs.ErrNotExist) && number != syscall.EINVAL && number != syscall.ENOTDIR && number != syscall.EISDIR
}

// guard turns a panic into errDamaged, as scorch indexes into mapped files without checks, and other errors into what fault says.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", errDamaged, p)
		return
	}
	*err = fault(*err)
}

// verify holds the files of a store that is not open against their checksums, about a gigabyte in a second. It reports whether there
// is a store. The root is looked at only after a clean stop.
func verify(dir string) (exists bool, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, fmt.Errorf("index: %w", err)
	}
	segments, err := filepath.Glob(filepath.Join(dir, "*.zap"))
	if err != nil {
		return false, fmt.Errorf("index: %w", err)
	}
	for _, name := range segments {
		if err := verifySegment(name); err != nil {
			return true, err
		}
	}
	want, err := durable.ReadBounded(filepath.Join(dir, closedFile), maxNote)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Stat(filepath.Join(dir, rootFile))
		return err == nil || len(segments) > 0, nil
	}
	if err != nil {
		return true, fault(fmt.Errorf("index: %w", err))
	}
	got, err := rootSum(dir)
	if err == nil && got != string(want) {
		err = fmt.Errorf("%w: %s is not as it was left", errDamaged, rootFile)
	}
	return true, fault(err)
}

// opened notes that the store in dir is written to.
func opened(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, dirtyFile), nil, 0o600); err != nil {
		return err
	}
	return durable.Remove(filepath.Join(dir, closedFile))
}

// closed notes that the store in dir was closed in order.
func closed(dir string) error {
	sum, err := rootSum(dir)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, closedFile), []byte(sum), 0o600)
	}
	if err != nil {
		if err := durable.Remove(filepath.Join(dir, closedFile)); err != nil {
			return err
		}
	}
	return durable.Remove(filepath.Join(dir, dirtyFile))
}

// rootSum is what closedFile says of the root.
func rootSum(dir string) (string, error) {
	f, _, err := durable.OpenRegular(filepath.Join(dir, rootFile))
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := crc32.NewIEEE()
	n, err := io.Copy(h, f)
	return fmt.Sprintf("%s %d bytes, checksum %08x\n", rootFile, n, h.Sum32()), err
}

// verifySegment checks the CRC-32 with which scorch ends every segment file.
func verifySegment(name string) error {
	f, _, err := durable.OpenRegular(name)
	if err != nil {
		return fault(fmt.Errorf("index: %w", err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	n := info.Size() - 4
	if n < 0 {
		return fmt.Errorf("%w: %s is %d bytes long", errDamaged, filepath.Base(name), info.Size())
	}
	h := crc32.NewIEEE()
	if _, err := io.CopyBuffer(h, struct{ io.Reader }{io.LimitReader(f, n)}, make([]byte, 256<<10)); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	var end [4]byte
	if _, err := f.ReadAt(end[:], n); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	if got, want := h.Sum32(), binary.BigEndian.Uint32(end[:]); got != want {
		return fmt.Errorf("%w: %s: checksum %08x, want %08x", errDamaged, filepath.Base(name), got, want)
	}
	return nil
}
