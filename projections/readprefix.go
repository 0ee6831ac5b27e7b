package projections

import (
	"bytes"
	"context"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
)

// Prefixes returns, for each of ids, how many of its 16 bytes tell it from all other rows, forgotten memories among them:
// the first of lengths, which ascend, that does; else 16.
func (v RowReader) Prefixes(ctx context.Context, ids []events.ID, lengths ...int) ([]int, error) {
	out := make([]int, len(ids))
	err := v.Read(ctx, func(btx *bolt.Tx) error {
		books, err := v.books(btx)
		if err != nil {
			return err
		}
		var cursors []*bolt.Cursor
		for _, b := range books {
			for _, name := range []string{rowTable().Name, graveTable().Name} {
				if t := b.x.Table(name); t != nil {
					cursors = append(cursors, t.Cursor())
				}
			}
		}
		for n, id := range ids {
			out[n] = len(id)
			for _, length := range lengths {
				if !shared(cursors, id, length) {
					out[n] = length
					break
				}
			}
		}
		return nil
	})
	return out, err
}

// shared reports whether another row's id has the first bytes of id.
func shared(cursors []*bolt.Cursor, id events.ID, length int) bool {
	for _, c := range cursors {
		k, _ := c.Seek(id[:length])
		if bytes.Equal(k, id[:]) {
			k, _ = c.Next()
		}
		if bytes.HasPrefix(k, id[:length]) {
			return true
		}
	}
	return false
}
