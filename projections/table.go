package projections

import bolt "go.etcd.io/bbolt"

// table is the bucket of that name, nil where there is none. It must not be written to.
func (x *tx) table(name string) *bolt.Bucket { return x.bucket.Bucket([]byte(name)) }

// decode reads a stored value, which belongs to the transaction, into v, which does not keep it.
func (x *tx) decode(raw []byte, v any) error { return x.codec.decode(raw, v) }

// table is a bucket of a view whose values are V.
type table[V any] struct {
	name    string
	ordered bool // keys mostly arrive in order
}

func (t table[V]) in(x *tx) (*bolt.Bucket, error) {
	b := x.bucket.Bucket([]byte(t.name))
	if b == nil {
		return nil, damaged("no table %s", t.name)
	}
	if t.ordered {
		b.FillPercent = 0.95
	}
	return b, nil
}

func (t table[V]) get(x *tx, key []byte) (v V, ok bool, err error) {
	b, err := t.in(x)
	if err != nil {
		return v, false, err
	}
	raw := b.Get(key)
	if raw == nil {
		return v, false, nil
	}
	if err := x.codec.decode(raw, &v); err != nil {
		return v, false, damaged("table %s, key %x: %v", t.name, key, err)
	}
	return v, true, nil
}

func (t table[V]) put(x *tx, key []byte, v V) error {
	b, err := t.in(x)
	if err != nil {
		return err
	}
	raw, err := x.codec.encode(v)
	if err != nil {
		return err
	}
	return b.Put(key, raw)
}

func (t table[V]) delete(x *tx, key []byte) error {
	b, err := t.in(x)
	if err != nil {
		return err
	}
	return b.Delete(key)
}

func (t table[V]) spec(key func([]byte) string) tableSpec {
	return tableSpec{name: t.name, key: key, value: func(c *codec, raw []byte) (any, error) {
		var v V
		err := c.decode(raw, &v)
		return v, err
	}}
}

// tableSpec is what is known of a table without its type.
type tableSpec struct {
	name  string
	key   func([]byte) string
	value func(*codec, []byte) (any, error)
}

// cache holds the values of a table that a slice works on. It writes each changed one once, at flush.
type cache[K comparable, V any] struct {
	x     *tx
	table table[V]
	key   func(K) []byte
	slots map[K]*slot[V]
	order []K // of first use, so that errors do not depend on a map
}

func (c *cache[K, V]) slot(k K) (*slot[V], error) {
	if s, ok := c.slots[k]; ok {
		return s, nil
	}
	v, ok, err := c.table.get(c.x, c.key(k))
	if err != nil {
		return nil, err
	}
	s := &slot[V]{value: v, exists: ok}
	c.slots[k] = s
	c.order = append(c.order, k)
	return s, nil
}

// peek returns the value of k, or nil. It must not be changed.
func (c *cache[K, V]) peek(k K) (*V, error) {
	s, err := c.slot(k)
	if err != nil || !s.exists {
		return nil, err
	}
	return &s.value, nil
}

// edit returns the value of k, made if it is new, to be changed.
func (c *cache[K, V]) edit(k K) (*V, error) {
	s, err := c.slot(k)
	if err != nil {
		return nil, err
	}
	s.exists, s.change = true, true
	return &s.value, nil
}

func (c *cache[K, V]) flush() error {
	for _, k := range c.order {
		s := c.slots[k]
		if !s.change {
			continue
		}
		s.change = false
		if err := c.table.put(c.x, c.key(k), s.value); err != nil {
			return err
		}
	}
	return nil
}

type slot[V any] struct {
	value          V
	exists, change bool
}

func newCache[K comparable, V any](x *tx, t table[V], key func(K) []byte) *cache[K, V] {
	return &cache[K, V]{x: x, table: t, key: key, slots: map[K]*slot[V]{}}
}

// deleteIf deletes the values that were changed and are empty now: what was taken back leaves no trace.
func (c *cache[K, V]) deleteIf(empty func(V) bool) error {
	for _, k := range c.order {
		s := c.slots[k]
		if !s.change || !empty(s.value) {
			continue
		}
		s.change, s.exists = false, false
		if err := c.table.delete(c.x, c.key(k)); err != nil {
			return err
		}
	}
	return nil
}
