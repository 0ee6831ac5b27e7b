package engine

import (
	"context"
	"reflect"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
)

// List describes every view. It reads the pages of the file, so it is for people, not for every request.
func (v *Views) List(ctx context.Context) ([]Info, error) {
	last, err := v.log.Last(ctx)
	if err != nil {
		return nil, err
	}
	var infos []Info
	err = v.read(ctx, func(btx *bolt.Tx) error {
		for _, view := range v.views {
			info, err := v.describe(btx, view, last)
			if err != nil {
				return err
			}
			infos = append(infos, info)
		}
		return nil
	})
	return infos, err
}

func (v *Views) describe(btx *bolt.Tx, view View, last events.Position) (Info, error) {
	p, _, err := readPoint(v.codec, btx, view.Name())
	if err != nil {
		return Info{}, err
	}
	bucket, err := bucketIn(btx, p.Bucket)
	if err != nil {
		return Info{}, err
	}
	info := Info{Name: view.Name(), Version: p.Version, Checkpoint: p.Position}
	if last > p.Position {
		info.Lag = uint64(last - p.Position)
	}
	for n, t := range v.store.origin.tables(view) {
		b := bucket.Bucket([]byte(t.name))
		if b == nil {
			return Info{}, Damaged("no table %s", t.name)
		}
		s := b.Stats()
		info.Bytes += int64(s.BranchAlloc) + int64(s.LeafAlloc)
		if n == 0 {
			info.Rows = s.KeyN
		}
	}
	other := view.Name()
	if p.Bucket == other {
		other += secondCopy
	}
	info.Rebuilding = btx.Bucket([]byte(other)) != nil
	return info, nil
}

// Inspect lays a view open: its state, and its stored values in the order of their keys. key is the beginning of a key
// as it is shown, or of "table/key"; empty means all of the main table. limit 0 means 100. Values are structs that
// encoding/json can write. The error is ErrUnknownView.
func (v *Views) Inspect(ctx context.Context, name, key string, limit int) (Inspection, error) {
	view, err := v.named(name)
	if err != nil {
		return Inspection{}, err
	}
	if limit <= 0 {
		limit = 100
	}
	last, err := v.log.Last(ctx)
	if err != nil {
		return Inspection{}, err
	}
	var out Inspection
	err = v.Read(ctx, func(r *ReadTx) {
		x := r.View(name)
		table, key := chooseTable(x.tables(view), key)
		info, err := v.describe(r.File, view, last)
		x.Fail(err)
		out = Inspection{Info: info, Entries: []Entry{}}
		x.Fail(entries(ctx, x, table, key, limit, &out))
	})
	return out, err
}

func chooseTable(tables []TableSpec, key string) (TableSpec, string) {
	if head, rest, ok := strings.Cut(key, "/"); ok {
		for _, t := range tables {
			if t.name == head {
				return t, rest
			}
		}
	}
	return tables[0], key
}

// entries adds the values of a table whose shown key begins with key.
func entries(ctx context.Context, x *Tx, t TableSpec, key string, limit int, out *Inspection) error {
	c := x.Cursor(t.name)
	for k, raw := c.First(); k != nil; k, raw = c.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		shown := t.key(k)
		if !strings.HasPrefix(shown, key) {
			continue
		}
		if len(out.Entries) == limit {
			out.More = true
			return nil
		}
		value := t.empty()
		if err := x.codec.Decode(raw, value); err != nil {
			return Damaged("table %s, key %s: %v", t.name, shown, err)
		}
		out.Entries = append(out.Entries, Entry{Table: t.name, Key: shown, Value: reflect.ValueOf(value).Elem().Interface()})
	}
	return nil
}

// Info describes one view.
type Info struct {
	Name       string          `json:"name"`
	Version    int             `json:"version"`
	Rows       int             `json:"rows"`  // keys of its main table
	Bytes      int64           `json:"bytes"` // of the file, in pages that it uses
	Checkpoint events.Position `json:"checkpoint"`
	Lag        uint64          `json:"lag"` // records of the log that it has not applied
	Rebuilding bool            `json:"rebuilding,omitempty"`
	Model      string          `json:"model,omitempty"`   // of vectors alone: what made them
	Missing    int             `json:"missing,omitempty"` // rows that have no vector yet
	Refused    int             `json:"refused,omitempty"` // rows that the endpoint would not make one of
}

// Inspection is a view laid open.
type Inspection struct {
	Info
	Entries []Entry `json:"entries"`
	More    bool    `json:"more,omitempty"` // the limit cut the entries
}

// Entry is one stored value of a view.
type Entry struct {
	Table string `json:"table"`
	Key   string `json:"key"`
	Value any    `json:"value"`
}
