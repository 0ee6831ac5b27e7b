package seal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/owned"
)

// Grace is how long a private half is kept after the next public half is on disk: whoever read the one before has finished
// writing by then, even if it was stopped in between. A hook lives for seconds; a day is for a machine that slept.
const Grace = 24 * time.Hour

// laid is the time after which nobody is still laying a key: its files are written in milliseconds.
const laid = time.Minute

var (
	// ErrNoKey is returned by Current where no key was laid yet.
	ErrNoKey = errors.New("seal: there is no key")
	// ErrLostKey is returned by Open for a key whose private half is not there.
	ErrLostKey = errors.New("seal: the key is lost")
)

// A Ring is a folder of key pairs: one that is sealed to at present, and those before it that something may still be sealed
// to. Several processes may read it at once; one alone, who holds the log, may call Renew and Prune.
type Ring struct{ dir string }

// NewRing returns the keys in a folder. It touches nothing.
func NewRing(dir string) Ring { return Ring{dir} }

// Current returns the key to seal to. It returns an error wrapping ErrNoKey where none was laid, and another one where the
// folder or the file is not this user's alone, is a link, or holds no key: then nothing may be sealed to it.
func (r Ring) Current() (PublicKey, error) {
	key, err := readPublic(r.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return PublicKey{}, fmt.Errorf("%w in %s", ErrNoKey, r.dir)
	case err != nil:
		return PublicKey{}, fmt.Errorf("seal: %w", err)
	}
	return key, nil
}

// Open opens what was sealed to the key of that id. It returns an error wrapping ErrLostKey where its private half is not
// there or not to be believed, and ErrOpen where what was sealed, or its header, is not as it was. Any other error may pass:
// the disk's, or that the whole folder is open to others.
func (r Ring) Open(id string, header, sealed []byte) ([]byte, error) {
	p, err := readPrivate(r.dir, id)
	if isLost(err) && !errors.Is(owned.Folder(r.dir), owned.ErrOthers) {
		return nil, fmt.Errorf("%w: %s", ErrLostKey, id)
	}
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return p.key.Open(header, sealed)
}

// isLost reports whether no second reading will mend what is wrong with a private half.
func isLost(err error) bool {
	all := []error{fs.ErrNotExist, ErrBadKey, owned.ErrOthers, durable.ErrTooLong}
	return slices.ContainsFunc(all, func(lost error) bool { return errors.Is(err, lost) })
}

// Renew sees to it that there is a present key whose private half can be read and that is younger than age; 0 makes a new
// one. The private half is on disk before the public half is. In a folder that is open to others it lays none, and returns
// an error: nobody would seal to it.
func (r Ring) Renew(now time.Time, age time.Duration) error {
	if err := errors.Join(makeFolder(r.dir), owned.Folder(r.dir)); err != nil {
		return fmt.Errorf("seal: %w", err)
	}
	if p, err := r.currentPair(); err == nil && now.Sub(p.made) < age && now.Sub(p.made) > -Grace {
		return nil
	}
	if err := r.redate(now); err != nil {
		return fmt.Errorf("seal: %w", err)
	}
	key, err := NewPrivateKey()
	if err != nil {
		return err
	}
	p := pair{id: key.Public().ID(), made: now, key: key}
	if err := p.write(r.dir); err != nil {
		return fmt.Errorf("seal: lay a key: %w", err)
	}
	return nil
}

// redate takes keys that were made after now, by a clock that has been set back since, for ones made now: they are older than
// the next key, and Prune tells that by their times.
func (r Ring) redate(now time.Time) error {
	pairs, err := r.pairs()
	if err != nil {
		return err
	}
	for _, p := range pairs {
		if !p.made.After(now) {
			continue
		}
		p.made = now.Add(-time.Second) // files tell times in seconds
		if err := p.writePrivate(r.dir); err != nil {
			return err
		}
	}
	return nil
}

// currentPair returns the pair that is sealed to.
func (r Ring) currentPair() (pair, error) {
	key, err := readPublic(r.dir)
	if err != nil {
		return pair{}, err
	}
	return readPrivate(r.dir, key.ID())
}

// Prune deletes the private halves that are not needed any more, and returns their ids: of keys that in reports nothing to
// be sealed to, and after which another key has been the present one for at least Grace. in is asked once that time has
// passed, and not for the present key. Where the present key cannot be read nothing is deleted. What a killed process left of
// a key that it was laying is removed.
func (r Ring) Prune(now time.Time, in func(id string) (bool, error)) (deleted []string, err error) {
	if _, err := durable.Sweep(r.dir, now, laid); err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	pairs, err := r.pairs()
	if err != nil || len(pairs) < 2 {
		return nil, err
	}
	present, err := r.currentPair()
	if err != nil {
		return nil, fmt.Errorf("seal: the present key: %w", err)
	}
	for i, p := range pairs {
		next := slices.IndexFunc(pairs[i+1:], func(q pair) bool { return q.made.After(p.made) })
		if p.id == present.id || next < 0 || now.Sub(pairs[i+1+next].made) < Grace {
			continue
		}
		used, err := in(p.id)
		if err != nil {
			return deleted, err
		}
		if used {
			continue
		}
		if err := os.Remove(filepath.Join(r.dir, p.id+privateEnd)); err != nil {
			return deleted, fmt.Errorf("seal: delete a key: %w", err)
		}
		deleted = append(deleted, p.id)
	}
	if len(deleted) == 0 {
		return nil, nil
	}
	return deleted, durable.SyncDir(r.dir)
}

// pairs returns the pairs that can be read, oldest first. A file that holds none is left alone: a person may mend it.
func (r Ring) pairs() ([]pair, error) {
	files, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	var pairs []pair
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), privateEnd)
		if !ok {
			continue
		}
		if p, err := readPrivate(r.dir, id); err == nil {
			pairs = append(pairs, p)
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return a.made.Compare(b.made) })
	return pairs, nil
}
