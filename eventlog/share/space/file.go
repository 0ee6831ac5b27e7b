package space

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/cmemd/cmemd/internal/durable"
)

// ErrNone is returned by Open where this machine is in no space.
var ErrNone = errors.New("space: this machine shares its memory with no other")

const (
	spaceFile    = "space"
	spaceFormat  = 1
	maxSpaceFile = 4 << 20
)

// localState is what this machine knows of its space, as it lies on its disk.
type localState struct {
	Format   int                 `json:"format"`
	ID       ID                  `json:"id"`
	Manifest []byte              `json:"manifest"` // as it was seen last
	Keys     map[uint32]EpochKey `json:"keys"`     // by epoch
	Pending  []EpochKey          `json:"pending"`  // of epochs that this machine was about to begin
}

func readLocalState(dir string) (k localState, err error) {
	path := filepath.Join(dir, spaceFile)
	err = private(path)
	if errors.Is(err, fs.ErrNotExist) {
		return k, ErrNone
	}
	if err != nil {
		return k, err
	}
	data, err := durable.ReadBounded(path, maxSpaceFile)
	if err != nil {
		return k, fmt.Errorf("space: %w", err)
	}
	if err := json.Unmarshal(data, &k); err != nil {
		return k, fmt.Errorf("space: %s is damaged (%w); move it away and enter the space again", path, err)
	}
	if k.Format != spaceFormat {
		return k, fmt.Errorf("%w (%s has format %d)", ErrNewer, path, k.Format)
	}
	return k, nil
}

func (k localState) write(dir string) error {
	k.Format = spaceFormat
	data, err := json.Marshal(k)
	if err == nil {
		err = durable.Replace(filepath.Join(dir, spaceFile), data, keyFileMode)
	}
	if err != nil {
		return fmt.Errorf("space: keep what is known of the space: %w", err)
	}
	return nil
}

// Forget removes what this machine knows of its space, keys included. Its own key stays.
func Forget(dir string) error {
	if err := durable.Remove(filepath.Join(dir, spaceFile)); err != nil {
		return fmt.Errorf("space: %w", err)
	}
	return durable.SyncDir(dir)
}
