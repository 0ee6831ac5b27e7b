package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
)

// The ways of putting cmemd into an agent.
const (
	MethodSettings = "settings" // entries in the agent's own files
	MethodPlugin   = "plugin"   // a plugin, by the client's own commands
)

// recordFormat is the format of the records that are written. A newer one is refused.
const recordFormat = 1

// Errors of reading a record.
var (
	// ErrNewerRecord is a record of a newer cmemd, which alone knows what it wrote.
	ErrNewerRecord = errors.New("install: a newer cmemd wrote what it changed there")

	// ErrDamagedRecord is one that does not say any more what was changed.
	ErrDamagedRecord = errors.New("install: the record of what was changed is damaged")
)

// errLost is a backup that is not there, or not what was kept.
var errLost = errors.New("install: the backup is lost")

// A Record is what was put into one agent: enough to take it out again, after a crash in the middle too.
type Record struct {
	Format  int          `json:"format"`
	Agent   string       `json:"agent"`
	Method  string       `json:"method"`
	Version string       `json:"version"` // of cmemd
	At      time.Time    `json:"at"`
	State   string       `json:"state"`           // what was begun: applying, removing; applied: it is done
	Addrs   []string     `json:"addrs,omitempty"` // that hooks were set to post to
	HTTP    bool         `json:"http,omitempty"`  // the hooks post to one of them
	NoMCP   bool         `json:"no_mcp,omitempty"`
	Files   []FileRecord `json:"files"`
}

// The states of a Record.
const (
	stateApplying = "applying"
	stateApplied  = "applied"
	stateRemoving = "removing"
)

// A FileRecord is one file that was changed.
type FileRecord struct {
	Path    string      `json:"path"`              // as the agent names it; it may be a link
	Existed bool        `json:"existed"`           // before
	Mode    fs.FileMode `json:"mode"`              // before
	Set     fs.FileMode `json:"set,omitempty"`     // since
	Before  string      `json:"before,omitempty"`  // the sum of what stood there, and the name of its backup
	After   string      `json:"after,omitempty"`   // the sum of what stands there since; empty: no file
	Left    string      `json:"left,omitempty"`    // the sum of what a removal's commands made of After
	Folders []string    `json:"folders,omitempty"` // that were made for it, the outermost first
}

// untouched reports whether nobody but cmemd, or the agent's client at its word, changed what the file holds.
func (f *FileRecord) untouched(c fileState) bool {
	return f != nil && (f.After == c.sum() || c.exists && f.Left == c.sum())
}

// modeFor is the mode that a removal gives the file: the one from before, unless somebody gave it another since.
func (f *FileRecord) modeFor(c fileState) fs.FileMode {
	if f != nil && f.Existed && f.Set == c.mode {
		return f.Mode
	}
	return c.mode
}

// file returns the record of path; nil where there is none.
func (r *Record) file(path string) *FileRecord {
	if r == nil {
		return nil
	}
	for i := range r.Files {
		if r.Files[i].Path == path {
			return &r.Files[i]
		}
	}
	return nil
}

// put adds f, or puts it in the place of the one of its path.
func (r *Record) put(f FileRecord) {
	if old := r.file(f.Path); old != nil {
		*old = f
		return
	}
	r.Files = append(r.Files, f)
}

// A Store keeps records and backups in a folder, which is made when something is written. One process at a time may use
// it; the caller sees to that.
type Store struct{ Dir string }

// Load returns the record of an agent; nil where nothing was put into it. Errors are those of reading it, ErrNewerRecord and
// ErrDamagedRecord.
func (s Store) Load(agent string) (*Record, error) {
	text, err := durable.ReadBounded(s.recordPath(agent), MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var r Record
	switch err := json.Unmarshal(text, &r); {
	case err == nil && r.Format > recordFormat:
		return nil, fmt.Errorf("%w: format %d in %s", ErrNewerRecord, r.Format, s.recordPath(agent))
	case err != nil || r.Format < 1 || r.Agent != agent:
		return nil, fmt.Errorf("%w: %s", ErrDamagedRecord, s.recordPath(agent))
	}
	return &r, nil
}

func (s Store) recordPath(agent string) string { return filepath.Join(s.Dir, agent+".json") }

func (s Store) backupPath(name string) string { return filepath.Join(s.Dir, "backup", name) }

// save writes a record.
func (s Store) save(r *Record) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	return durable.Replace(s.recordPath(r.Agent), append(text, '\n'), 0o600)
}

// keep writes a backup of text. It is named by its sum, so that the same text is kept once.
func (s Store) keep(text []byte) error {
	path := s.backupPath(sumOf(text))
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return durable.Replace(path, text, 0o600)
}

// before is what stood in a file before cmemd came; nil where there was none. The error is errLost where nobody knows, or that
// of reading the backup.
func (s Store) before(f *FileRecord) ([]byte, error) {
	if f == nil || !f.Existed {
		return nil, nil
	}
	if f.Before == "" {
		return nil, errLost
	}
	text, err := durable.ReadBounded(s.backupPath(f.Before), MaxFile)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err != nil || sumOf(text) != f.Before:
		return nil, errLost
	}
	return append([]byte{}, text...), nil // never nil
}

// drop removes the record of an agent and the backups that no other one names. Where a record cannot be read all stay: it may
// name any.
func (s Store) drop(agent string) error {
	if err := durable.Remove(s.recordPath(agent)); err != nil {
		return err
	}
	named, known := s.named()
	if !known {
		return nil
	}
	backups, err := os.ReadDir(s.backupPath(""))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, b := range backups {
		if !named[b.Name()] {
			err = errors.Join(err, os.Remove(s.backupPath(b.Name())))
		}
	}
	return err
}

// named is the backups that records name; known is false if one of them cannot be read.
func (s Store) named() (names map[string]bool, known bool) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	names = map[string]bool{}
	for _, e := range entries {
		agent, isRecord := strings.CutSuffix(e.Name(), ".json")
		if !isRecord || strings.HasPrefix(agent, ".") {
			continue
		}
		r, err := s.Load(agent)
		if err != nil || r == nil {
			return nil, false
		}
		for _, f := range r.Files {
			names[f.Before] = true
		}
	}
	return names, true
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
