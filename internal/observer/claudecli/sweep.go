package claudecli

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/process"
)

// childRecord is one child as it is written down while it lives: enough to tell it from another process that was given its number.
type childRecord struct {
	ID    string `json:"id"`    // stands in the child's environment
	PID   int    `json:"pid"`   // of the child, and of its group
	Start string `json:"start"` // as the system counts it
	Boot  string `json:"boot"`  // of the machine's boot
	dir   string
}

// newRun names a run whose children nobody else's are mistaken for.
func newRun(dir string) childRecord { return childRecord{ID: rand.Text(), dir: dir} }

// note writes the run down once its child has started.
func (r childRecord) note(pid int) error {
	start, _ := process.StartTime(pid) // unknown: it has ended, or nobody will signal it
	r.PID, r.Start, r.Boot = pid, start, process.BootID()
	b, err := json.Marshal(r)
	if err == nil {
		err = durable.Swap(r.path(), b, 0o600)
	}
	if err != nil {
		return setupFailure("the folder of runs cannot be written", err)
	}
	return nil
}

func (r childRecord) path() string { return filepath.Join(r.dir, r.ID+".run") }

// forget removes what note wrote. One that stays is harmless: it names a process that is no more.
func (r childRecord) forget() { _ = os.Remove(r.path()) }

// kill ends what still lives of a run, and reports whether anything did.
func (r childRecord) kill() bool {
	if r.ID == "" || r.Boot == "" || r.Boot != process.BootID() {
		return false
	}
	same := process.Lives(r.PID, r.Start, r.Boot)
	if same {
		if p, err := os.FindProcess(r.PID); err == nil {
			_ = errors.Join(process.KillGroup(p), p.Release()) // it may have ended in between
		}
	}
	return killMarked(r.ID) || same
}

// Sweep kills what still lives of the runs that an earlier process wrote down in dir, and empties the folder. It returns how
// many of them did. A process is signalled only if it is the one that was started: by its number, its start and the
// machine's boot, or by the run's marker in its environment. It must be called before the first question of a Client with
// that Dir, by the one process that uses it; a folder that is not there is an empty one.
func Sweep(dir string) (found int, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("claudecli: sweep: %w", err)
	}
	var errs []error
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.HasSuffix(e.Name(), ".run") && readRun(path).kill() {
			found++
		}
		if ours(e.Name()) {
			errs = append(errs, os.RemoveAll(path))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return found, fmt.Errorf("claudecli: sweep: %w", err)
	}
	return found, nil
}

// ours reports whether a name in the folder of runs is one that this package gives.
func ours(name string) bool {
	system := strings.HasPrefix(name, "system-") && strings.HasSuffix(name, ".txt")
	return system || name == cwdName || name == tmpName || strings.HasSuffix(name, ".run") || strings.HasPrefix(name, durable.NewPrefix)
}

// maxRun is longer than any run is written down, in bytes.
const maxRun = 64 << 10

// readRun returns what was written down; of a file that is no run, one that kills nobody.
func readRun(path string) (r childRecord) {
	b, err := durable.ReadBounded(path, maxRun)
	if err != nil || json.Unmarshal(b, &r) != nil {
		return childRecord{}
	}
	return r
}

// The folders in the folder of runs: where children live, which stays empty, and where they leave what they leave.
const (
	cwdName = "cwd"
	tmpName = "tmp"
)
