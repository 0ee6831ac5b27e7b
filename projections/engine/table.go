package engine

import (
	"bytes"
	"iter"

	bolt "go.etcd.io/bbolt"
)

// table is the bucket of that name, nil where x has failed. Without one x fails as damaged.
func (x *Tx) table(name string) *bolt.Bucket {
	if x.Err() != nil {
		return nil
	}
	b := x.bucket.Bucket([]byte(name))
	if b == nil {
		x.Fail(Damaged("no table %s", name))
	}
	return b
}

// Table is a bucket of a view whose values are V.
type Table[V any] struct {
	Name    string
	Ordered bool // keys mostly arrive in order
}

// in returns the bucket of t, nil where x has failed. Without one x fails as damaged.
func (t Table[V]) in(x *Tx) *bolt.Bucket {
	b := x.table(t.Name)
	if b != nil && t.Ordered {
		b.FillPercent = 0.95
	}
	return b
}

// Cursor returns a cursor of t.
func (t Table[V]) Cursor(x *Tx) *Cursor { return x.Cursor(t.Name) }

// decode reads a stored value into v. x fails where it is damaged.
func (t Table[V]) decode(x *Tx, key, raw []byte, v *V) (ok bool) {
	err := x.codec.Decode(raw, v)
	if err != nil {
		x.Fail(Damaged("table %s, key %x: %v", t.Name, key, err))
	}
	return err == nil
}

// Get returns the value of key; ok is false where there is none.
func (t Table[V]) Get(x *Tx, key []byte) (v V, ok bool) {
	raw, ok := t.Cursor(x).get(key)
	if !ok {
		return v, false
	}
	ok = t.decode(x, key, raw, &v)
	return v, ok
}

// Put stores the value of key.
func (t Table[V]) Put(x *Tx, key []byte, v V) {
	b := t.in(x)
	if b == nil {
		return
	}
	raw, err := x.codec.Encode(&v)
	if err == nil {
		err = b.Put(key, x.place.in(t.Name).seal(key, raw))
	}
	x.Fail(err)
}

// Delete deletes the value of key, if there is one.
func (t Table[V]) Delete(x *Tx, key []byte) {
	if b := t.in(x); b != nil {
		x.deleted = true
		x.Fail(b.Delete(key))
	}
}

// From yields the entries whose keys begin with prefix, in order, from the key from on; a nil one is before all others. Keys
// belong to the transaction.
func (t Table[V]) From(x *Tx, prefix, from []byte) iter.Seq2[[]byte, V] {
	first := func(c *Cursor) (key, raw []byte) { return c.Seek(from) }
	return t.walk(x, prefix, first, (*Cursor).Next)
}

// Before yields the entries whose keys begin with prefix backwards, from the one before a key on; a nil one is behind all
// others.
func (t Table[V]) Before(x *Tx, prefix, before []byte) iter.Seq2[[]byte, V] {
	first := func(c *Cursor) (key, raw []byte) { return c.Before(before) }
	return t.walk(x, prefix, first, (*Cursor).Prev)
}

func (t Table[V]) walk(x *Tx, prefix []byte, first, next func(*Cursor) (key, raw []byte)) iter.Seq2[[]byte, V] {
	return func(yield func([]byte, V) bool) {
		c := t.Cursor(x)
		var v, empty V // one for all: it is allocated
		for k, raw := first(c); k != nil && bytes.HasPrefix(k, prefix); k, raw = next(c) {
			v = empty
			if !t.decode(x, k, raw, &v) || !yield(k, v) || x.Err() != nil {
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

func (c *Cache[K, V]) slot(k K) *slot[V] {
	if s, ok := c.slots[k]; ok {
		return s
	}
	v, ok := c.table.Get(c.x, c.key(k))
	s := &slot[V]{value: v, exists: ok}
	c.slots[k] = s
	c.Order = append(c.Order, k)
	return s
}

// Add is Edit of a key that the table is known not to have, which it is not asked for.
func (c *Cache[K, V]) Add(k K) *V {
	if _, ok := c.slots[k]; !ok {
		c.slots[k] = &slot[V]{}
		c.Order = append(c.Order, k)
	}
	return c.Edit(k)
}

// Peek returns the value of k, or nil. It must not be changed.
func (c *Cache[K, V]) Peek(k K) *V {
	s := c.slot(k)
	if !s.exists {
		return nil
	}
	return &s.value
}

// Edit returns the value of k, made if it is new, to be changed.
func (c *Cache[K, V]) Edit(k K) *V {
	s := c.slot(k)
	s.exists, s.change = true, true
	return &s.value
}

// EditKnown returns the value of k to be changed, or nil where there is none.
func (c *Cache[K, V]) EditKnown(k K) *V {
	s := c.slot(k)
	if !s.exists {
		return nil
	}
	s.change = true
	return &s.value
}

// Flush writes what was changed, and deletes what is empty now: what was taken back leaves no trace.
func (c *Cache[K, V]) Flush() {
	for _, k := range c.Order {
		s := c.slots[k]
		if !s.change {
			continue
		}
		s.change = false
		if s.exists = c.empty == nil || !c.empty(s.value); s.exists {
			c.table.Put(c.x, c.key(k), s.value)
		} else {
			c.table.Delete(c.x, c.key(k))
		}
	}
}

// Flush flushes parts of a fold, in their order.
func Flush(parts ...interface{ Flush() }) {
	for _, p := range parts {
		p.Flush()
	}
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
