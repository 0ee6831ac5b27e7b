package engine

import (
	"context"
	"errors"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

const (
	// pointBucket holds one checkpoint a view.
	pointBucket = "checkpoints"

	// secondCopy is appended to a view's name for the bucket of every other copy.
	secondCopy = "'"
)

// checkpoint says which bucket is a view's live copy, of which version, and which record of which order it applied last.
type checkpoint struct {
	Version  int             `cbor:"1,keyasint"`
	Bucket   string          `cbor:"2,keyasint"`
	Position events.Position `cbor:"3,keyasint,omitempty"`
	Chain    events.Hash     `cbor:"4,keyasint,omitzero"`
	Order    events.LogID    `cbor:"5,keyasint,omitzero"` // of several logs, in which Position is; zero: of one
}

func readPoint(c *Codec, btx *bolt.Tx, name string) (p checkpoint, ok bool, err error) {
	b := btx.Bucket([]byte(pointBucket))
	if b == nil {
		return p, false, nil
	}
	stored := b.Get([]byte(name))
	if stored == nil {
		return p, false, nil
	}
	raw, err := sumSeedOf(pointBucket, "").checkSum([]byte(name), stored)
	if err == nil {
		err = c.Decode(raw, &p)
	}
	if err != nil {
		return p, false, Damaged("checkpoint of %s: %v", name, err)
	}
	return p, true, nil
}

func (v *Views) writePoint(btx *bolt.Tx, i *instance, values *arena) error {
	b, err := btx.CreateBucketIfNotExists([]byte(pointBucket))
	if err != nil {
		return err
	}
	point := checkpoint{Version: i.view.Layout().Version, Bucket: i.bucket, Position: i.at, Chain: i.chain, Order: v.order}
	return values.put(b, v.codec, sumSeedOf(pointBucket, ""), []byte(i.view.Name()), &point)
}

// takeUp finds the live copy of every view in s, makes those that are missing or unusable, and deletes what belongs to
// none: a copy that was not finished, a view that is no more.
func (v *Views) takeUp(s *store) ([]*instance, error) {
	var live []*instance
	err := s.Update(func(btx *bolt.Tx) error {
		for _, view := range v.views {
			i, err := v.takeUpView(btx, view)
			if err != nil {
				return err
			}
			live = append(live, i)
		}
		return sweep(btx, live)
	})
	return live, err
}

func (v *Views) takeUpView(btx *bolt.Tx, view View) (*instance, error) {
	i := &instance{view: view, bucket: view.Name(), epoch: v.epoch}
	p, ok, err := readPoint(v.codec, btx, view.Name())
	if err != nil {
		return nil, err
	}
	why := ""
	if ok {
		if why, err = v.unusableReason(p, view); err != nil {
			return nil, err
		}
	}
	if ok && why == "" && btx.Bucket([]byte(p.Bucket)) != nil {
		i.bucket, i.at, i.chain = p.Bucket, p.Position, p.Chain
		return i, nil
	}
	if why != "" {
		v.logger.Warn("view is built anew", "view", view.Name(), "err", why)
	}
	if err := v.emptyBucket(btx, i); err != nil {
		return nil, err
	}
	return i, v.writePoint(btx, i, new(arena))
}

// unusableReason says why a view with checkpoint p cannot be gone on with: its form changed, or its log is not this one.
func (v *Views) unusableReason(p checkpoint, view View) (string, error) {
	if p.Version != view.Layout().Version {
		return "its version changed", nil
	}
	if p.Order != v.order {
		return "the logs of other machines are in another order, or came, or went", nil
	}
	return v.foreignReason(p)
}

// foreignReason says why the log is not the one that a checkpoint was made in; nothing where it is, or where that cannot be read, or where the position
// is of another order.
func (v *Views) foreignReason(p checkpoint) (string, error) {
	if p.Position == 0 || p.Order != v.order {
		return "", nil
	}
	r, err := v.log.Get(context.Background(), p.Position)
	if errors.Is(err, events.ErrCorrupt) {
		return "", nil
	}
	if errors.Is(err, eventlog.ErrNotFound) {
		return "it is ahead of the log", nil
	}
	if err != nil {
		return "", err
	}
	if r.Chain != p.Chain {
		return "it was built from another log", nil
	}
	return "", nil
}

// tables are those that a view has of logs of this origin.
func (o Origin) tables(view View) (all []TableSpec) {
	for _, t := range view.Layout().Tables {
		if o.Joined || !t.joined {
			all = append(all, t)
		}
	}
	return all
}

// emptyBucket makes the bucket of an instance, with its tables, and nothing in them.
func (v *Views) emptyBucket(btx *bolt.Tx, i *instance) error {
	if err := btx.DeleteBucket([]byte(i.bucket)); err != nil && btx.Bucket([]byte(i.bucket)) != nil {
		return err
	}
	b, err := btx.CreateBucket([]byte(i.bucket))
	if err != nil {
		return err
	}
	for _, t := range v.origin.tables(i.view) {
		if _, err := b.CreateBucket([]byte(t.name)); err != nil {
			return err
		}
	}
	return nil
}

func sweep(btx *bolt.Tx, live []*instance) error {
	keep := map[string]bool{pointBucket: true}
	names := map[string]bool{}
	for _, i := range live {
		keep[i.bucket], names[i.view.Name()] = true, true
	}
	var gone []string
	err := btx.ForEach(func(name []byte, _ *bolt.Bucket) error {
		if !keep[string(name)] {
			gone = append(gone, string(name))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range gone {
		if err := btx.DeleteBucket([]byte(name)); err != nil {
			return err
		}
		if name = strings.TrimSuffix(name, secondCopy); !names[name] {
			if err := btx.Bucket([]byte(pointBucket)).Delete([]byte(name)); err != nil {
				return err
			}
		}
	}
	return nil
}
