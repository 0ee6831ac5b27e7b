package relay

import (
	"errors"
	"fmt"
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

// readBounded is durable.ReadBounded. It wraps errDamaged where the file is to blame and not the disk.
func readBounded(path string, limit int64) ([]byte, error) {
	data, err := durable.ReadBounded(path, limit)
	if errors.Is(err, durable.ErrIrregular) || errors.Is(err, durable.ErrTooLong) {
		err = fmt.Errorf("%w: %w", errDamaged, err)
	}
	return data, err
}

// errDamaged is a file that no second reading will mend.
var errDamaged = errors.New("damaged file")

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
