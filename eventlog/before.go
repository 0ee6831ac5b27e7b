package eventlog

import (
	"context"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
)

// beforeBucket maps the position of a record that a salvage laid anew to the place that it had in the damaged log. Other logs have none.
var beforeBucket = []byte("before")

// Before is the place of a record in its stream in the log that this one was salvaged from, where it is another one now.
type Before struct {
	Position events.Position
	Version  events.Version
	Previous events.Position
	Chain    events.Hash
}

// KeepBefore notes where records were before a salvage laid them anew. It is on disk when it returns. Errors: those of Erase.
func (b *Bolt) KeepBefore(ctx context.Context, all ...Before) error {
	if len(all) == 0 {
		return b.endErr()
	}
	return b.writer.do(ctx, &request{change: func(t *batch) error {
		t.dirty = true
		table, err := t.before()
		must(err)
		for _, one := range all {
			end := head{Version: one.Version, Last: one.Previous, Chain: one.Chain}
			must(table.Put(keyOf(one.Position), end.appendTo(make([]byte, 0, headSize))))
		}
		return nil
	}})
}

// Befores returns what KeepBefore noted of the positions from up to and with to.
func (b *Bolt) Befores(ctx context.Context, from, to events.Position) (all []Before, err error) {
	if err := b.ready(ctx); err != nil {
		return nil, err
	}
	err = b.view(func(tx *bbolt.Tx) error {
		table := tx.Bucket(beforeBucket)
		if table == nil {
			return nil
		}
		c := table.Cursor()
		for k, v := c.Seek(keyOf(from)); k != nil && positionOf(k) <= to; k, v = c.Next() {
			if len(v) != headSize {
				return corruptf(positionOf(k), "", "what was before has %d bytes", len(v))
			}
			all = append(all, Before{
				positionOf(k), events.Version(binary.BigEndian.Uint64(v)), events.Position(binary.BigEndian.Uint64(v[8:])), events.Hash(v[16:]),
			})
		}
		return nil
	})
	return all, err
}

// copyBefore copies what was noted of some positions.
func (b *Bolt) copyBefore(ctx context.Context, to *Bolt, first, last events.Position) error {
	all, err := b.Befores(ctx, first, last)
	if err != nil {
		return fmt.Errorf("what was before a salvage: %w", err)
	}
	return to.KeepBefore(ctx, all...)
}
