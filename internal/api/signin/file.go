package signin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/durable"
)

const (
	maxFile  = 64 << 10 // bytes: sixteen viewers take 5 kB
	fileMode = 0o600
)

// stored is a viewer as the file has it.
type stored struct {
	ID      string    `json:"id"`
	Key     []byte    `json:"key"` // as publicKey reads it
	Scope   api.Scope `json:"scope"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"used"`
}

type file struct {
	Viewers []stored `json:"viewers"`
}

// load reads the viewers of the file at path; of none there are none. What is wrong in it is an error, and no viewer is believed.
func load(path string) (viewers []*viewer, err error) {
	text, err := durable.ReadBounded(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("signin: %w", err)
	}
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("signin: %s: %w", path, err)
	}
	for _, s := range f.Viewers {
		key, err := publicKey(s.Key)
		if err != nil || s.ID == "" || s.Scope != api.ScopeView && s.Scope != api.ScopeEdit {
			return nil, fmt.Errorf("signin: %s: an entry is no viewer", path)
		}
		viewers = append(viewers, &viewer{Viewer: api.Viewer{ID: s.ID, Scope: s.Scope, Created: s.Created, Used: s.Used}, raw: s.Key, key: key})
	}
	slices.SortFunc(viewers, func(a, b *viewer) int { return a.Used.Compare(b.Used) })
	return viewers[max(0, len(viewers)-MaxViewers):], nil
}

// storedOf is viewers as the file has them.
func storedOf(viewers []*viewer) []stored {
	out := []stored{}
	for _, v := range viewers {
		out = append(out, stored{v.ID, v.raw, v.Scope, v.Created, v.Used})
	}
	return out
}

// save makes viewers the content of the file at path, on disk when it returns.
func save(path string, viewers []stored) error {
	text, err := json.MarshalIndent(file{viewers}, "", " ")
	if err != nil {
		return fmt.Errorf("signin: %w", err)
	}
	if err := durable.Replace(path, append(text, '\n'), fileMode); err != nil {
		return fmt.Errorf("signin: %w", err)
	}
	return nil
}
