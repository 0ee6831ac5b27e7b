package share

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/durable"
)

const (
	notesFile    = "forget" // requests to forget, which are lost nowhere else
	feedsFile    = "feeds"  // how far logs were read; where it is lost they are read again
	identityFile = "log"    // what the own log is called in the store, where that is not what its first record says
	stateFormat  = 1
	maxStateFile = 64 << 20
	stateMode    = 0o600
)

// ErrState is returned by New for a file of a newer program.
var ErrState = errors.New("share: a file was written by a newer cmemd; upgrade this machine's")

// feed is how far a log was read, or the own one was shipped.
type feed struct {
	Machine space.MemberID  `json:"machine"` // that signs it
	Last    events.Position `json:"last"`
	Link    events.Hash     `json:"link"` // of Last

	// Of the own log alone.
	Chain    events.Hash     `json:"chain,omitzero"`     // of Last
	Life     uint64          `json:"life,omitempty"`     // that wrote the head last
	Head     events.Position `json:"head,omitempty"`     // that it named as the last
	Withheld int             `json:"withheld,omitempty"` // records up to Last that were too large to travel
}

// feeds is the file of that name.
type feeds struct {
	Format int                   `json:"format"`
	Logs   map[events.LogID]feed `json:"logs"` // with the own one
}

// noteState is what became of a note here. It is kept for ever: a store that was emptied, or restored, is given the note again.
type noteState struct {
	Note *note     `json:"note,omitempty"` // nil once there is nothing left to do
	Body []byte    `json:"body,omitempty"` // as it is in the store; nil until it was sent
	At   time.Time `json:"at"`
	By   string    `json:"by"` // the machine that asked

	Sent    bool `json:"sent"`    // it is in the store
	Done    bool `json:"done"`    // the words are gone here
	Cleaned bool `json:"cleaned"` // and in the store, as far as it was this machine's to see to
}

// notes is the file of that name.
type notes struct {
	Format int                  `json:"format"`
	As     events.LogID         `json:"as,omitzero"`   // the own log's name as they were done, where it is not its first
	Root   events.LogID         `json:"root,omitzero"` // and its first name; zero: not known
	Notes  map[noteID]noteState `json:"notes"`
}

// readState reads a file of JSON into v, which keeps what it is where there is no file.
func readState(dir, name string, v any, format *int) error {
	data, err := durable.ReadBounded(filepath.Join(dir, name), maxStateFile)
	if errors.Is(err, fs.ErrNotExist) {
		*format = stateFormat
		return nil
	}
	if err == nil {
		if bad := json.Unmarshal(data, v); bad != nil {
			err = fmt.Errorf("the file is damaged (%w): put it back from a backup of CMEMD_HOME, or `cmemd leave --force`, then join again", bad)
		}
	}
	if err == nil && *format != stateFormat {
		err = ErrState
	}
	if err != nil {
		return fmt.Errorf("share: %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// writeState writes v as a file of JSON by write, and says in an error what could not be kept.
func writeState(dir, name, what string, v any, write func(path string, data []byte, mode fs.FileMode) error) error {
	data, err := json.Marshal(v)
	if err == nil {
		err = write(filepath.Join(dir, name), data, stateMode)
	}
	if err != nil {
		return fmt.Errorf("share: keep %s: %w", what, err)
	}
	return nil
}

// loadNotes reads what was asked to be forgotten. If the own log is another one than when the file was written, or has another name,
// every request is to be done again: the log may be an older one from a backup, which still has the words, and the log that it was
// before comes back as a copy.
func loadNotes(dir string, own, root events.LogID) (map[noteID]noteState, error) {
	var n notes
	err := readState(dir, notesFile, &n, &n.Format)
	if n.Notes == nil { // no file has it, or it is null there
		n.Notes = map[noteID]noteState{}
	}
	if err != nil || len(n.Notes) == 0 || n.As == own && n.Root == root {
		return n.Notes, err
	}
	if n.As == own && n.Root.IsZero() {
		return n.Notes, saveNotes(dir, own, root, n.Notes)
	}
	for id, state := range n.Notes {
		if err := state.reopen(); err != nil {
			return nil, err
		}
		state.Done = false
		n.Notes[id] = state
	}
	return n.Notes, nil
}

// loadFeeds never fails for a damaged file: it can be made again.
func loadFeeds(dir string) (map[events.LogID]feed, error) {
	var f feeds
	err := readState(dir, feedsFile, &f, &f.Format)
	if errors.Is(err, ErrState) {
		return nil, err
	}
	if err != nil || f.Logs == nil {
		return map[events.LogID]feed{}, nil
	}
	return f.Logs, nil
}

// loadIdentity never fails for a damaged file: then the own log is found to be another home's, and gets another name.
func loadIdentity(dir string) (i identity, err error) {
	if err = readState(dir, identityFile, &i, &i.Format); err != nil && !errors.Is(err, ErrState) {
		return identity{}, nil
	}
	return i, err
}

// saveIdentity is durable on return.
func saveIdentity(dir string, i identity) error {
	i.Format = stateFormat
	return writeState(dir, identityFile, "what the own log is called", i, durable.Replace)
}

// saveNotes is durable on return.
func saveNotes(dir string, as, root events.LogID, n map[noteID]noteState) error {
	return writeState(dir, notesFile, "what is to be forgotten", notes{stateFormat, as, root, n}, durable.Replace)
}

// saveFeeds may be lost with the power: what it says is then found out again.
func saveFeeds(dir string, f map[events.LogID]feed) error {
	return writeState(dir, feedsFile, "how far logs were read", feeds{stateFormat, f}, durable.Swap)
}
