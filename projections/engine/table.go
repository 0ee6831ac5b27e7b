package engine

import (
	"bytes"
	"iter"

	bolt "go.etcd.io/bbolt"
)

// Table is the bucket of that name, nil where there is none. It must not be written to.
func (x *Tx) Table(name string) *bolt.Bucket { return x.bucket.Bucket([]byte(name)) }

// Decode reads a stored value, which belongs to the transaction, into v, which does not keep it.
func (x *Tx) Decode(raw []byte, v any) error { return x.codec.Decode(raw, v) }

// Table is a bucket of a view whose values are V.
type Table[V any] struct {
	Name    string
	Ordered bool // keys mostly arrive in order
}

// In returns the bucket of t. The error is ErrDamaged.
func (t Table[V]) In(x *Tx) (*bolt.Bucket, error) {
	b := x.bucket.Bucket([]byte(t.Name))
	if b == nil {
		return nil, Damaged("no table %s", t.Name)
	}
	if t.Ordered {
		b.FillPercent = 0.95
	}
	return b, nil
}

// Get returns the value of key; ok is false where there is none. The error is ErrDamaged.
func (t Table[V]) Get(x *Tx, key []byte) (v V, ok bool, err error) {
	b, err := t.In(x)
	if err != nil {
		return v, false, err
	}
	raw := b.Get(key)
	if raw == nil {
		return v, false, nil
	}
	if err := x.codec.Decode(raw, &v); err != nil {
		return v, false, Damaged("table %s, key %x: %v", t.Name, key, err)
	}
	return v, true, nil
}

// Put stores the value of key.
func (t Table[V]) Put(x *Tx, key []byte, v V) error {
	b, err := t.In(x)
	if err != nil {
		return err
	}
	raw, err := x.codec.Encode(&v)
	if err != nil {
		return err
	}
	return b.Put(key, raw)
}

// Delete deletes the value of key, if there is one.
func (t Table[V]) Delete(x *Tx, key []byte) error {
	b, err := t.In(x)
	if err != nil {
		return err
	}
	return b.Delete(key)
}

// Item is an entry of a table. Its key belongs to the transaction.
type Item[V any] struct {
	Key   []byte
	Value V
}

// From yields the entries whose keys begin with prefix, in order, from the key from on; a nil one is before all others. An
// error is ErrDamaged, and the last.
func (t Table[V]) From(x *Tx, prefix, from []byte) iter.Seq2[Item[V], error] {
	first := func(c *bolt.Cursor) (key, raw []byte) { return c.Seek(from) }
	return t.walk(x, prefix, first, (*bolt.Cursor).Next)
}

// Before yields the entries whose keys begin with prefix backwards, from the one before a key on; a nil one is behind all
// others. An error is ErrDamaged, and the last.
func (t Table[V]) Before(x *Tx, prefix, before []byte) iter.Seq2[Item[V], error] {
	first := func(c *bolt.Cursor) (key, raw []byte) {
		if before == nil {
			return c.Last()
		}
		return SeekBefore(c, before)
	}
	return t.walk(x, prefix, first, (*bolt.Cursor).Prev)
}

func (t Table[V]) walk(x *Tx, prefix []byte, first, next func(*bolt.Cursor) (key, raw []byte)) iter.Seq2[Item[V], error] {
	return func(yield func(Item[V], error) bool) {
		b, err := t.In(x)
		if err != nil {
			yield(Item[V]{}, err)
			return
		}
		c := b.Cursor()
		var item Item[V] // one for all: it is allocated
		for k, raw := first(c); k != nil && bytes.HasPrefix(k, prefix); k, raw = next(c) {
			item = Item[V]{Key: k}
			if err := x.codec.Decode(raw, &item.Value); err != nil {
				yield(item, Damaged("table %s, key %x: %v", t.Name, k, err))
				return
			}
			if !yield(item, nil) {
				return
			}
		}
	}
}

// Spec is t as a View names it; key shows a key to people.
func (t Table[V]) Spec(key func([]byte) string) TableSpec {
	return TableSpec{name: t.Name, key: key, value: func(c *Codec, raw []byte) (any, error) {
		var v V
		err := c.Decode(raw, &v)
		return v, err
	}}
}

// TableSpec is what is known of a table without its type.
type TableSpec struct {
	name  string
	key   func([]byte) string
	value func(*Codec, []byte) (any, error)
}

// Cache holds the values of a table that a slice works on. It writes each changed one once, at flush.
type Cache[K comparable, V any] struct {
	x     *Tx
	table Table[V]
	key   func(K) []byte
	slots map[K]*slot[V]
	empty func(V) bool // nil: none is

	Order []K // the keys in the order of first use, so that errors do not depend on a map
}

func (c *Cache[K, V]) slot(k K) (*slot[V], error) {
	if s, ok := c.slots[k]; ok {
		return s, nil
	}
	v, ok, err := c.table.Get(c.x, c.key(k))
	if err != nil {
		return nil, err
	}
	s := &slot[V]{value: v, exists: ok}
	c.slots[k] = s
	c.Order = append(c.Order, k)
	return s, nil
}

// Peek returns the value of k, or nil. It must not be changed.
func (c *Cache[K, V]) Peek(k K) (*V, error) {
	s, err := c.slot(k)
	if err != nil || !s.exists {
		return nil, err
	}
	return &s.value, nil
}

// Edit returns the value of k, made if it is new, to be changed.
func (c *Cache[K, V]) Edit(k K) (*V, error) {
	s, err := c.slot(k)
	if err != nil {
		return nil, err
	}
	s.exists, s.change = true, true
	return &s.value, nil
}

// EditKnown returns the value of k to be changed, or nil where there is none.
func (c *Cache[K, V]) EditKnown(k K) (*V, error) {
	s, err := c.slot(k)
	if err != nil || !s.exists {
		return nil, err
	}
	s.change = true
	return &s.value, nil
}

// Flush writes what was changed, and deletes what is empty now: what was taken back leaves no trace.
func (c *Cache[K, V]) Flush() error {
	for _, k := range c.Order {
		s := c.slots[k]
		if !s.change {
			continue
		}
		s.change = false
		var err error
		if s.exists = c.empty == nil || !c.empty(s.value); s.exists {
			err = c.table.Put(c.x, c.key(k), s.value)
		} else {
			err = c.table.Delete(c.x, c.key(k))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Flush flushes parts of a fold, in their order.
func Flush(parts ...interface{ Flush() error }) error {
	for _, p := range parts {
		if err := p.Flush(); err != nil {
			return err
		}
	}
	return nil
}

type slot[V any] struct {
	value          V
	exists, change bool
}

// NewCache returns a cache of t for one slice on x; key gives the key of a value.
func NewCache[K comparable, V any](x *Tx, t Table[V], key func(K) []byte) *Cache[K, V] {
	return &Cache[K, V]{x: x, table: t, key: key, slots: map[K]*slot[V]{}}
}

// DeleteIf returns c, of which Flush does not keep empty values.
func (c *Cache[K, V]) DeleteIf(empty func(V) bool) *Cache[K, V] {
	c.empty = empty
	return c
}
