package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/transient"
)

// A Difference is a value that two copies of a view do not agree on.
type Difference struct {
	View    string `json:"view"`
	Table   string `json:"table,omitempty"`
	Key     string `json:"key,omitempty"` // as it is shown to people
	Problem string `json:"problem"`
}

// String is the difference on one line, for people. It holds no value.
func (d Difference) String() string {
	if d.Table == "" {
		return d.View + ": " + d.Problem
	}
	return fmt.Sprintf("%s, table %s, key %s: %s", d.View, d.Table, d.Key, d.Problem)
}

// ErrPositionsDiffer is a comparison of what stands at different positions of the log.
var ErrPositionsDiffer = transient.Mark(errors.New("projections: not at the same position"))

// Compare sets v beside other, views of the same log, value by value, and returns at most so many differences and how many there
// are. What both hold at one moment is compared: neither is kept from being written meanwhile. Errors are ErrPositionsDiffer and those of Read.
func (v *Views) Compare(ctx context.Context, other *Views, most int) (found []Difference, all int, err error) {
	note := func(d Difference) {
		if all++; len(found) < most {
			found = append(found, d)
		}
	}
	var failed error
	err = v.Read(ctx, func(mine *ReadTx) {
		err := other.Read(ctx, func(theirs *ReadTx) {
			for _, view := range v.views {
				if failed == nil {
					failed = compareView(ctx, view, mine.View(view.Name()), theirs.View(view.Name()), note)
				}
			}
		})
		failed = cmp.Or(failed, err)
	})
	if err = cmp.Or(err, failed, ctx.Err()); err != nil {
		return nil, 0, err
	}
	return found, all, nil
}

func compareView(ctx context.Context, view View, mine, theirs *Tx, note func(Difference)) error {
	if err := errors.Join(mine.Err(), theirs.Err()); err != nil {
		return err
	}
	if mine.Checkpoint != theirs.Checkpoint {
		return fmt.Errorf("%w: %s at %d and at %d", ErrPositionsDiffer, view.Name(), mine.Checkpoint, theirs.Checkpoint)
	}
	if mine.Joined != theirs.Joined {
		return fmt.Errorf("%w: one of them knows other machines", ErrPositionsDiffer)
	}
	for _, t := range mine.tables(view) {
		compareTable(ctx, mine.Cursor(t.name), theirs.Cursor(t.name), func(key []byte, problem string) {
			note(Difference{View: view.Name(), Table: t.name, Key: t.key(key), Problem: problem})
		})
	}
	return errors.Join(mine.Err(), theirs.Err())
}

// compareTable walks two tables side by side.
func compareTable(ctx context.Context, a, b *Cursor, note func(key []byte, problem string)) {
	k, v := a.First()
	l, w := b.First()
	for (k != nil || l != nil) && ctx.Err() == nil {
		order := bytes.Compare(k, l)
		switch {
		case l == nil || k != nil && order < 0:
			note(k, "is not what the log leads to: there is no such value")
			k, v = a.Next()
		case k == nil || order > 0:
			note(l, "is missing")
			l, w = b.Next()
		default:
			if !bytes.Equal(v, w) {
				note(k, "is another value than the log leads to")
			}
			k, v = a.Next()
			l, w = b.Next()
		}
	}
}

// Checkpoints returns how far each view in the file in dir is, as the file says it; none where there is no file. It opens the file
// for reading, and waits a second for one that is in use. A file that cannot be read is ErrDamaged.
func Checkpoints(dir string) (map[string]events.Position, error) {
	path := filepath.Join(dir, fileName)
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return nil, nil
	}
	at := map[string]events.Position{}
	err := Guard(func() error {
		db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true, Timeout: lockTimeout})
		if err != nil {
			return err
		}
		defer db.Close()
		return db.View(func(btx *bolt.Tx) error {
			return eachPoint(btx, func(name string, p checkpoint) { at[name] = p.Position })
		})
	})
	return at, err
}

func eachPoint(btx *bolt.Tx, f func(name string, p checkpoint)) error {
	b, codec := btx.Bucket([]byte(pointBucket)), NewCodec()
	if b == nil {
		return nil
	}
	return b.ForEach(func(k, _ []byte) error {
		p, _, err := readPoint(codec, btx, string(k))
		if err == nil {
			f(string(k), p)
		}
		return err
	})
}
