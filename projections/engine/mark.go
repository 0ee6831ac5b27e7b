package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
)

const (
	// markName is a file that is locked as long as views.db is open, and that is not empty while views.db is written
	// to: after a stop that was not clean it names the boot of the machine in which that was. It is not in the database,
	// where a torn write could bring an old one back.
	markName = "views.db.open"

	markPrefix = "open in boot "
)

// mark is that file, locked.
type mark struct{ file *os.File }

func inUse(path string) error { return fmt.Errorf("%s is in use by another process", path) }

func takeMark(path string) (*mark, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(lockTimeout); ; time.Sleep(10 * time.Millisecond) {
		err := lock(f)
		if err == nil {
			return &mark{f}, nil
		}
		if errors.Is(err, errLocked) && time.Now().Before(deadline) {
			continue
		}
		if errors.Is(err, errLocked) {
			err = inUse(path)
		}
		return nil, errors.Join(err, f.Close())
	}
}

var errLocked = errors.New("locked")

// distrust says why the database at path must not be used, or nothing. After an unclean stop it is used only if the
// machine has been up since, so that all that was written is in the page cache, and if its structure is whole.
func (m *mark) distrust(path, bootID string) string {
	content, err := io.ReadAll(io.LimitReader(m.file, 1<<10))
	if err == nil && len(content) == 0 {
		return ""
	}
	if err != nil || bootID == "" || string(content) != markPrefix+bootID {
		return "the last stop was not clean, and the machine may have gone down with it"
	}
	if err := verifyFile(path, true); err != nil {
		return fmt.Sprintf("after a stop that was not clean: %v", err)
	}
	return ""
}

// set puts the mark on disk, before anything is written to the database.
func (m *mark) set(bootID string) error {
	if err := m.write(markPrefix + bootID); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(m.file.Name()))
}

func (m *mark) clear() error { return m.write("") }

func (m *mark) write(content string) error {
	if err := m.file.Truncate(0); err != nil {
		return err
	}
	if _, err := m.file.WriteAt([]byte(content), 0); err != nil {
		return err
	}
	return m.file.Sync()
}
