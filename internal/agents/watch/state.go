package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/internal/durable"
)

// stateVersion is the form of the state's file. Another one is set aside: everything is read again then, and known.
const stateVersion = 1

// maxStateFile bounds what is read as a state, in bytes: each file is some hundreds.
const maxStateFile = 256 << 20

// File is how far one transcript was read.
type File struct {
	Path     string    `json:"path"`
	Agent    string    `json:"agent"`
	Offset   int64     `json:"offset"`             // bytes of the lines that are in the log
	Size     int64     `json:"size"`               // of the file then: the rest is a line that was not finished
	Before   uint32    `json:"before"`             // a sum over the last bytes before Offset
	Changed  time.Time `json:"changed"`            // of the file then
	ReadAt   time.Time `json:"read_at,omitzero"`   // when something of it was recorded last; zero: a program that did not keep it wrote this
	Lines    int       `json:"lines"`              // read of it
	Captured int       `json:"captured,omitempty"` // facts that were new
	Bad      int       `json:"bad,omitempty"`      // lines that were not understood
	Rested   bool      `json:"rested,omitempty"`   // its reading knows that nothing comes for now
	Error    string    `json:"error,omitempty"`    // why it is not read now
}

// State is what a watcher keeps: of files that were changed lately, of those that were read long after they were changed, and of
// those that are not read to their end. Others are older, and left alone as they would be if they were in it.
type State struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`    // until then files of Rules were looked for
	Rules   []string  `json:"rules"` // AGENT=PATTERN
	Notices bool      `json:"notices"`
	// Log names what the log held when the state was written. A log that lacks some of it may lack what was read. If it could not be
	// asked, Log is that of an earlier state, and files that were read since have Rested unset, so that they are read again.
	Log   eventlog.Mark `json:"log,omitzero"`
	Files []File        `json:"files"` // by path
}

// Load reads what a watcher keeps in the file at path. Without a file it is empty; what is no state is an error.
func Load(path string) (State, error) {
	text, err := durable.ReadLinked(path, maxStateFile)
	if errors.Is(err, fs.ErrNotExist) {
		return State{Version: stateVersion, Files: []File{}}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("watch: %w", err)
	}
	var s State
	if err := json.Unmarshal(text, &s); err != nil {
		return State{}, fmt.Errorf("watch: %s: %w", path, err)
	}
	if s.Version != stateVersion {
		return State{}, fmt.Errorf("watch: %s is of version %d, where %d is known", path, s.Version, stateVersion)
	}
	return s, nil
}
