package homedir

import (
	"encoding/json"
	"sync"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/durable"
)

// A LogDamage is what is known of damage of a home's log, kept in a file until the log is found whole. Its methods are safe for
// concurrent use.
type LogDamage struct {
	path string

	mu    sync.Mutex // guards the field below
	known *api.LogDamage
}

// maxDamageFile bounds the file: it is a few hundred bytes.
const maxDamageFile = 64 << 10

// ReadLogDamage reads what was known last. A file that is not there, or cannot be read, is no damage: whoever reads the log meets it again.
func ReadLogDamage(p Paths) *LogDamage {
	d := &LogDamage{path: p.Damage}
	b, err := durable.ReadBounded(d.path, maxDamageFile)
	if err == nil {
		_ = json.Unmarshal(b, &d.known)
	}
	return d
}

// Known is the damage with the lowest position that was met; nil: none. It must not be changed.
func (d *LogDamage) Known() *api.LogDamage {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known
}

// Note takes damage that was met; nil: the log was found whole. It reports whether that is news.
func (d *LogDamage) Note(met *api.LogDamage) (news bool, err error) {
	if !d.take(met) {
		return false, nil
	}
	if met == nil {
		return true, durable.Remove(d.path)
	}
	b, err := json.Marshal(met)
	if err != nil {
		return true, err
	}
	return true, durable.Swap(d.path, b, OwnFile)
}

// take is Note in memory.
func (d *LogDamage) take(met *api.LogDamage) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case met == nil && d.known == nil, met != nil && d.known != nil && !isBefore(*met, *d.known):
		return false
	}
	d.known = met
	return true
}

// isBefore reports whether a says more of where to look than b: a lower position, or one at all.
func isBefore(a, b api.LogDamage) bool {
	return a.Position > 0 && (b.Position == 0 || a.Position < b.Position)
}
