package engine

import (
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// boundFold is a fold, and what it folds on.
type boundFold struct {
	apply func(*Record)
	x     *Tx
}

// foldOn begins a fold on an instance, whose values stand in that arena.
func (v *Views) foldOn(btx *bolt.Tx, i *instance, values *arena) (boundFold, error) {
	bucket, err := bucketIn(btx, i.bucket)
	if err != nil {
		return boundFold{}, err
	}
	x := &Tx{bucket: bucket, seed: sumSeed(0).in(i.view.Name()), codec: v.codec, arena: values, err: new(error), header: v.headerAt, Origin: v.origin}
	return boundFold{i.view.Fold(x), x}, nil
}

// finish writes what was folded on an instance.
func (f boundFold) finish(i *instance) error {
	for _, end := range f.x.ends {
		end()
	}
	if err := f.x.Err(); err != nil {
		return fmt.Errorf("view %s: %w", i.view.Name(), err)
	}
	return nil
}
