package homedir

import (
	"time"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/process"
)

// A NextObserver is who is to observe once nothing waits for the observer that is set now. A process of its own waits for that; the file is
// gone when it has changed the settings.
type NextObserver struct {
	process.Identity // of who waits

	Provider string    `json:"provider"`
	Model    string    `json:"model,omitempty"` // empty: the one that is set
	Chosen   time.Time `json:"chosen"`          // by a person
}

// WithProcess returns n as the process pid, which lives, waits for it.
func (n NextObserver) WithProcess(pid int) NextObserver {
	n.Identity = process.Identify(pid)
	return n
}

// Write writes n down at path. After a loss of power there is the old file or the new one: a person's choice is in it.
func (n NextObserver) Write(path string) error {
	return writeNote(path, n, durable.Replace)
}

// ReadNextObserver returns what stands at path; the zero value where nobody is to observe next.
func ReadNextObserver(path string) (NextObserver, error) { return readNote[NextObserver](path) }
