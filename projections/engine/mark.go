package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/filelock"
)

const (
	// markName is a file that is locked as long as views.db is open. While views.db is written to it names the boot of the
	// machine in which that is, and after a clean stop the checksum of views.db. It is not in the database, where a torn
	// write could bring an old one back.
	markName = "views.db.open"

	// layoutVersion is the version of how values are stored. 2: a checksum stands behind each. Files of another one are made anew.
	layoutVersion = 2
)

// openMark is what the mark says while views.db is open in a boot of the machine.
func openMark(bootID string) string {
	return fmt.Sprintf("layout %d, open in boot %s", layoutVersion, bootID)
}

// closedMark is what it says after a clean stop.
func closedMark(size int64, sum uint32) string {
	return fmt.Sprintf("layout %d, closed at %d bytes, checksum %08x", layoutVersion, size, sum)
}

// mark is that file, locked.
type mark struct {
	file *os.File
	info os.FileInfo // of it
}

func inUse(path string) error { return fmt.Errorf("%s is in use by another process", path) }

func lockMark(path string) (*mark, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	held, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	for deadline := time.Now().Add(lockTimeout); ; time.Sleep(10 * time.Millisecond) {
		free, err := filelock.Try(f)
		switch {
		case free:
			return &mark{f, held}, nil
		case err == nil && time.Now().Before(deadline):
			continue
		case err == nil:
			err = inUse(path)
		}
		return nil, errors.Join(err, f.Close())
	}
}

// distrust says why the database at path must not be used, or nothing. After a clean stop it must be as it was left. After
// an unclean one it is used only if the machine has been up since, so that all that was written is in the page cache, and if
// its pages and values are whole.
func (m *mark) distrust(path, bootID string) string {
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return ""
	}
	read, err := io.ReadAll(io.LimitReader(m.file, 1<<10))
	content := string(read)
	var version int
	_, verr := fmt.Sscanf(content, "layout %d,", &version)
	switch {
	case err != nil:
		return err.Error()
	case verr != nil || version != layoutVersion:
		return "they are of another release, or nothing says that they are whole"
	case content == openMark(bootID) && bootID != "":
		if err := verifyFile(path, true); err != nil {
			return fmt.Sprintf("after a stop that was not clean: %v", err)
		}
		return ""
	case strings.HasPrefix(content, openMark("")):
		return "the last stop was not clean, and the machine may have gone down with it"
	}
	size, sum, err := sumFile(path)
	if err != nil {
		return err.Error()
	}
	if content != closedMark(size, sum) {
		return "the file is not as it was left"
	}
	return ""
}

// checkNotMoved is ErrMoved if the folder of the views was moved, or somebody has another one there.
func (m *mark) checkNotMoved() error { return CheckNotMoved(m.file.Name(), m.info) }

// set puts the mark on disk, before anything is written to the database.
func (m *mark) set(bootID string) error {
	if err := m.write(openMark(bootID)); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(m.file.Name()))
}

// vouch says that the database at path is closed, and as it is to be found.
func (m *mark) vouch(path string) error {
	size, sum, err := sumFile(path)
	if err != nil {
		return err
	}
	return m.write(closedMark(size, sum))
}

func (m *mark) write(content string) error {
	if err := m.file.Truncate(0); err != nil {
		return err
	}
	if _, err := m.file.WriteAt([]byte(content), 0); err != nil {
		return err
	}
	return m.file.Sync()
}
