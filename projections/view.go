package projections

import (
	"errors"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
)

// view is one fold of the log. Its content is a function of the headers, of the payloads that are not Forgettable, and of
// the other payloads as far as no MemoryForgotten names their positions or ids: so a view that saw a payload before it
// was erased ends as one that did not.
type view interface {
	name() string
	// version goes up with every change of what is stored or of how it is folded.
	version() int
	// tables are the view's own; the first counts as its rows.
	tables() []tableSpec
	// skipsUnknown reports whether kinds of a newer program cannot change what the view says.
	skipsUnknown() bool
	// fold begins one slice of records on x.
	fold(x *tx) fold
}

// fold applies one slice of records, in order, and keeps what it can in memory until flush.
type fold interface {
	apply(r *record) error
	flush() error
}

// record is a record of the log, with what several views need of it computed once.
type record struct {
	events.Record
	session events.SessionID // zero: not a session's

	decoded bool
	event   events.Event
	err     error
}

func newRecord(r events.Record) *record {
	session, _ := r.Stream.Session()
	return &record{Record: r, session: session}
}

// payloadOf decodes r's payload. ok is false when it was erased or cannot be read, which a view takes as never known.
// The error is events.ErrUnknownKind: a schema of a newer program.
func payloadOf[E events.Event](r *record) (e E, ok bool, err error) {
	if !r.decoded {
		r.event, r.err = r.Event()
		r.decoded = true
	}
	if errors.Is(r.err, events.ErrUnknownKind) {
		return e, false, r.err
	}
	e, ok = r.event.(E)
	return e, ok && r.err == nil, nil
}

// turnOf is the turn that r belongs to: its correlation, which outlives the payload, else what the payload says.
func turnOf(r *record, said events.ID) events.ID {
	if r.Correlation != (events.ID{}) {
		return r.Correlation
	}
	return said
}

// turn is turnOf where nothing else of the payload is needed: mostly it need not be decoded.
func (r *record) turn() (events.ID, error) {
	if r.Correlation != (events.ID{}) {
		return r.Correlation, nil
	}
	e, _, err := payloadOf[events.Event](r)
	return turnSaid(e), err
}

// tx is one view's part of a transaction.
type tx struct {
	bucket *bolt.Bucket
	codec  *codec
	header func(events.Position) (events.Header, bool, error) // of any record of the log
}

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

// tableSpec is what is known of a table without its type.
type tableSpec struct {
	name  string
	key   func([]byte) string
	value func(*codec, []byte) (any, error)
}

func (t table[V]) spec(key func([]byte) string) tableSpec {
	return tableSpec{name: t.name, key: key, value: func(c *codec, raw []byte) (any, error) {
		var v V
		err := c.decode(raw, &v)
		return v, err
	}}
}

// cache holds the values of a table that a slice works on. It writes each changed one once, at flush.
type cache[K comparable, V any] struct {
	x     *tx
	table table[V]
	key   func(K) []byte
	slots map[K]*slot[V]
	order []K // of first use, so that errors do not depend on a map
}

type slot[V any] struct {
	value          V
	exists, change bool
}

func newCache[K comparable, V any](x *tx, t table[V], key func(K) []byte) *cache[K, V] {
	return &cache[K, V]{x: x, table: t, key: key, slots: map[K]*slot[V]{}}
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
