package engine

import (
	"bytes"

	bolt "go.etcd.io/bbolt"
)

// Cursor goes through the entries of a table, in the order of their keys. Each entry that it comes to is held against its
// checksum and its order, and so is the one beside the place that Seek and Before come to: a key that is damaged is found
// where it stands, and where it should. Then the Tx fails, and there are no more keys. Keys and values belong to the transaction.
// Once a slice has deleted something, only what is come to is checked: bbolt's cursors go wrong before pages that are empty.
type Cursor struct {
	x     *Tx
	table string
	seed  sumSeed
	bolt  *bolt.Cursor // nil: the Tx has failed
	key   []byte       // where it is; nil: nowhere
}

// Cursor returns a cursor of the table of that name. Without one x fails as damaged.
func (x *Tx) Cursor(table string) *Cursor {
	c := &Cursor{x: x, table: table, seed: x.seed.in(table)}
	if b := x.table(table); b != nil {
		c.bolt = b.Cursor()
	}
	return c
}

// lookup is the cursor of a table by which single values are read. Each read seeks, so that one cursor serves all of a transaction.
func (x *Tx) lookup(table string) *Cursor {
	c := x.lookups[table]
	if c == nil {
		if x.lookups == nil {
			x.lookups = map[string]*Cursor{}
		}
		c = x.Cursor(table)
		x.lookups[table] = c
	}
	return c
}

// First goes to the first entry; the key is nil where there is none, as with all that follow.
func (c *Cursor) First() (key, value []byte) {
	if c.failed() {
		return nil, nil
	}
	return c.at(c.bolt.First())
}

// Last goes to the last entry.
func (c *Cursor) Last() (key, value []byte) {
	if c.failed() {
		return nil, nil
	}
	return c.at(c.bolt.Last())
}

// Next goes to the entry behind the one where it is.
func (c *Cursor) Next() (key, value []byte) {
	if c.failed() {
		return nil, nil
	}
	from := c.key
	key, value = c.at(c.bolt.Next())
	return c.checkOrder(from, key, value, key)
}

// Prev goes to the entry before the one where it is.
func (c *Cursor) Prev() (key, value []byte) {
	if c.failed() {
		return nil, nil
	}
	from := c.key
	key, value = c.at(c.bolt.Prev())
	return c.checkOrder(key, key, value, from)
}

// Seek goes to a key, or to the first one behind it.
func (c *Cursor) Seek(to []byte) (key, value []byte) {
	if len(to) == 0 {
		return c.First()
	}
	key, value, found := c.find(to)
	if found || c.x.deleted || c.failed() {
		return key, value
	}
	if before, _ := c.stepBefore(to, key); before == nil {
		return c.First()
	}
	return c.Next()
}

// Before goes to the last key before another one; nil is behind all.
func (c *Cursor) Before(to []byte) (key, value []byte) {
	if to == nil {
		return c.Last()
	}
	key, _, _ = c.find(to)
	return c.stepBefore(to, key)
}

// Delete deletes the entry where it is. First, Last, Seek and Before are what may follow.
func (c *Cursor) Delete() {
	if !c.failed() {
		c.x.deleted = true
		c.x.Fail(c.bolt.Delete())
	}
}

// get returns the value of a key; ok is false where there is none. It leaves c at the key, or where the key would stand.
func (c *Cursor) get(to []byte) (value []byte, ok bool) {
	key, value, found := c.find(to)
	if !found && !c.x.deleted {
		c.stepBefore(to, key)
	}
	return value, found && !c.failed()
}

// find goes to a key, or to the first one behind it, and reports whether it is that one.
func (c *Cursor) find(to []byte) (key, value []byte, found bool) {
	if c.failed() {
		return nil, nil, false
	}
	key, value = c.at(c.bolt.Seek(to))
	if key, value = c.checkReached(to, key, value); key == nil {
		return nil, nil, false
	}
	return key, value, bytes.Equal(key, to)
}

// checkReached is a key that is not before another one.
func (c *Cursor) checkReached(to, key, value []byte) (k, v []byte) {
	if key != nil && bytes.Compare(key, to) < 0 {
		return c.fail("its keys are out of order")
	}
	return key, value
}

// stepBefore goes from a key that find came to for another one, or from the end, to the one before it.
func (c *Cursor) stepBefore(to, key []byte) (before, value []byte) {
	if c.failed() {
		return nil, nil
	}
	if key == nil {
		before, value = c.at(c.bolt.Last())
	} else {
		before, value = c.at(c.bolt.Prev())
	}
	return c.checkOrder(before, before, value, to)
}

// checkOrder is key and value, where low is before high. Those that are nil are not compared.
func (c *Cursor) checkOrder(low, key, value, high []byte) (k, v []byte) {
	if low != nil && high != nil && bytes.Compare(low, high) >= 0 {
		return c.fail("its keys are out of order")
	}
	return key, value
}

// at takes the entry that bbolt came to.
func (c *Cursor) at(key, stored []byte) (k, value []byte) {
	c.key = key
	if key == nil {
		return nil, nil
	}
	value, err := c.seed.checkSum(key, stored)
	if err != nil {
		return c.fail(err.Error())
	}
	return key, value
}

func (c *Cursor) fail(why string) (key, value []byte) {
	c.key = nil
	c.x.Fail(Damaged("table %s: %s", c.table, why))
	return nil, nil
}

func (c *Cursor) failed() bool { return c.bolt == nil || c.x.Err() != nil }
