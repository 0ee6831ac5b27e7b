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

// Table is a bucket of a view whose values are V. Its methods only hold V: all else is done in functions without a type parameter,
// of which the program has one copy and not one a table.
type Table[V any] struct {
	Name    string
	Ordered bool // keys mostly arrive in order
}

// Cursor returns a cursor of t.
func (t Table[V]) Cursor(x *Tx) *Cursor { return x.Cursor(t.Name) }

// Get returns the value of key; ok is false where there is none.
func (t Table[V]) Get(x *Tx, key []byte) (v V, ok bool) {
	ok = x.get(t.Name, key, &v)
	return v, ok
}

// Read is Get into what v points to, which must be empty: a large value is not moved.
func (t Table[V]) Read(x *Tx, key []byte, v *V) (ok bool) { return x.get(t.Name, key, v) }

// ReadStored is Read that returns the value as it is stored, too; it belongs to the transaction.
func (t Table[V]) ReadStored(x *Tx, key []byte, v *V) (stored []byte, ok bool) {
	stored, ok = x.lookup(t.Name).get(key)
	return stored, ok && x.decode(t.Name, key, stored, v)
}

// Put stores the value of key.
func (t Table[V]) Put(x *Tx, key []byte, v V) { x.put(t.Name, t.Ordered, key, &v) }

// Delete deletes the value of key, if there is one.
func (t Table[V]) Delete(x *Tx, key []byte) { x.delete(t.Name, key) }

// From yields the entries whose keys begin with prefix, in order, from the key from on; a nil one is before all others. Keys
// belong to the transaction.
func (t Table[V]) From(x *Tx, prefix, from []byte) iter.Seq2[[]byte, V] {
	return t.each(x, walk{prefix, from, (*Cursor).Seek, (*Cursor).Next})
}

// Before yields the entries whose keys begin with prefix backwards, from the one before a key on; a nil one is behind all
// others.
func (t Table[V]) Before(x *Tx, prefix, before []byte) iter.Seq2[[]byte, V] {
	return t.each(x, walk{prefix, before, (*Cursor).Before, (*Cursor).Prev})
}

// Values returns the values whose keys begin with prefix, in the order of these. There must be few.
func (t Table[V]) Values(x *Tx, prefix []byte) (all []V) {
	for _, v := range t.From(x, prefix, prefix) {
		all = append(all, v)
	}
	return all
}

// each is not inlined, which would copy its closures into each method that calls it.
//
//go:noinline
func (t Table[V]) each(x *Tx, w walk) iter.Seq2[[]byte, V] {
	return func(yield func([]byte, V) bool) {
		var v V // one for all: it is allocated
		x.walk(t.Name, w, &v, func(key []byte) bool {
			var found V
			found, v = v, found
			return yield(key, found)
		})
	}
}

// Spec is t as a View names it; key shows a key to people.
func (t Table[V]) Spec(key func([]byte) string) TableSpec {
	return TableSpec{name: t.Name, key: key, empty: func() any { return new(V) }}
}

// bucketOf returns the bucket of a table to write to, nil where x has failed. Without one x fails as damaged.
func (x *Tx) bucketOf(table string, ordered bool) *bolt.Bucket {
	b := x.table(table)
	if b != nil && ordered {
		b.FillPercent = 0.95
	}
	return b
}

// get reads the value of key into the empty one that v points to, and reports whether there is one. x fails where it is damaged.
func (x *Tx) get(table string, key []byte, v any) bool {
	raw, ok := x.lookup(table).get(key)
	return ok && x.decode(table, key, raw, v)
}

// decode reads a stored value into what v points to. x fails where it is damaged.
func (x *Tx) decode(table string, key, raw []byte, v any) bool {
	err := x.codec.Decode(raw, v)
	if err != nil {
		x.Fail(Damaged("table %s, key %x: %v", table, key, err))
	}
	return err == nil
}

// put stores what v points to as the value of key.
func (x *Tx) put(table string, ordered bool, key []byte, v any) {
	b := x.bucketOf(table, ordered)
	if b == nil {
		return
	}
	x.Fail(x.arena.put(b, x.codec, x.seed.in(table), key, v))
}

// arena is where the values of a transaction stand that is not committed yet: bbolt refers to them until then.
type arena struct{ left []byte } // without length

// arenaSize is how many bytes of values have room side by side; one that is larger brings its own.
const arenaSize = 4 << 10

// put stores what v points to, with its checksum, as the value of key in b.
func (a *arena) put(b *bolt.Bucket, codec *Codec, seed sumSeed, key []byte, v any) error {
	if cap(a.left) < packedRoom {
		a.left = make([]byte, 0, arenaSize)
	}
	value, err := codec.Append(a.left, v)
	if err != nil {
		return err
	}
	value = seed.appendSum(key, value)
	a.left = value[len(value):]
	return b.Put(key, value)
}

func (x *Tx) delete(table string, key []byte) {
	if b := x.table(table); b != nil {
		x.deleted = true
		x.Fail(b.Delete(key))
	}
}

// walk is a way through the entries whose keys begin with prefix: from where seek comes to with start, by steps.
type walk struct {
	prefix, start []byte
	seek          func(*Cursor, []byte) (key, raw []byte)
	step          func(*Cursor) (key, raw []byte)
}

// walk reads one value after another into what v points to, and calls yield with its key until that returns false. Yield leaves v empty.
func (x *Tx) walk(table string, w walk, v any, yield func(key []byte) bool) {
	c := x.Cursor(table)
	for k, raw := w.seek(c, w.start); k != nil && bytes.HasPrefix(k, w.prefix); k, raw = w.step(c) {
		if !x.decode(table, k, raw, v) || !yield(k) || x.Err() != nil {
			return
		}
	}
}

// TableSpec is what is known of a table without its type.
type TableSpec struct {
	name   string
	joined bool // it is there only where there are records of other machines
	key    func([]byte) string
	empty  func() any // a new value, by its address
}

// OfJoined is t as a table that is there only where there are records of other machines.
func (t TableSpec) OfJoined() TableSpec {
	t.joined = true
	return t
}

// Cache holds the values of a table that a slice works on. It writes each changed one once, at flush.
type Cache[K comparable, V any] struct {
	x       *Tx
	table   string
	ordered bool // as Table.Ordered
	key     func(K) []byte
	slots   map[K]*slot[V]
	unused  []slot[V]    // that were made along with others
	empty   func(V) bool // nil: none is

	Order []K // the keys in the order of first use, so that errors do not depend on a map
}

func (c *Cache[K, V]) slot(k K) *slot[V] {
	if s, ok := c.slots[k]; ok {
		return s
	}
	s := c.add(k)
	s.exists = c.x.get(c.table, s.key, &s.value)
	return s
}

func (c *Cache[K, V]) add(k K) *slot[V] {
	if len(c.unused) == 0 {
		c.unused = make([]slot[V], min(1+len(c.Order), maxUnused))
	}
	s := &c.unused[0]
	c.unused = c.unused[1:]
	s.key, c.slots[k] = c.key(k), s
	c.Order = append(c.Order, k)
	return s
}

// Add is Edit of a key that the table is known not to have, which it is not asked for.
func (c *Cache[K, V]) Add(k K) *V {
	if _, ok := c.slots[k]; !ok {
		c.add(k)
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

// EditExisting returns the value of k to be changed, or nil where there is none.
func (c *Cache[K, V]) EditExisting(k K) *V {
	s := c.slot(k)
	if !s.exists {
		return nil
	}
	s.change = true
	return &s.value
}

// flush writes what was changed, and deletes what is empty now: what was taken back leaves no trace.
func (c *Cache[K, V]) flush() {
	for _, k := range c.Order {
		s := c.slots[k]
		if !s.change {
			continue
		}
		s.change = false
		if s.exists = c.empty == nil || !c.empty(s.value); s.exists {
			c.x.put(c.table, c.ordered, s.key, &s.value)
		} else {
			c.x.delete(c.table, s.key)
		}
	}
}

// maxUnused is how many slots of a cache are made at once.
const maxUnused = 64

type slot[V any] struct {
	key            []byte
	value          V
	exists, change bool
}

// NewCache returns a cache of t for one slice on x; key gives the key of a value.
func NewCache[K comparable, V any](x *Tx, t Table[V], key func(K) []byte) *Cache[K, V] {
	c := &Cache[K, V]{x: x, table: t.Name, ordered: t.Ordered, key: key, slots: map[K]*slot[V]{}}
	x.AtEnd(c.flush)
	return c
}

// DeleteIf returns c, which does not keep empty values.
func (c *Cache[K, V]) DeleteIf(empty func(V) bool) *Cache[K, V] {
	c.empty = empty
	return c
}
