package eventlog

import (
	"go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
)

// table is where a batch finds and puts records and heads: an open write transaction.
type table struct {
	log     *Bolt
	records *bbolt.Bucket
	ends    *bbolt.Bucket
	arena   *arena
	dirty   bool
}

func newTable(b *Bolt, tx *bbolt.Tx, a *arena) *table {
	t := &table{log: b, records: tx.Bucket(logBucket), ends: tx.Bucket(headBucket), arena: a}
	t.records.FillPercent = 1 // pages are filled from left to right and never split again; it is not stored
	a.reset()
	return t
}

// record returns the record at a position; ErrNotFound if there is none.
func (t *table) record(at events.Position) (events.Record, error) {
	return recordIn(t.records, t.log.cfg.Codec, at)
}

// put stores r at its position. It panics where bbolt does not take it, and the commit fails then.
func (t *table) put(r events.Record) {
	t.dirty = true
	must(t.records.Put(keyOf(r.Position), t.arena.record(r)))
}

// head returns the end of a stream as of the last commit; the zero head for an unknown one.
func (t *table) head(stream events.StreamID) (head, error) {
	if h, ok := t.log.heads.get(stream); ok {
		return h, nil
	}
	h, err := headIn(t.records, t.ends, t.log.cfg.Codec, stream)
	if err == nil && h.Version > 0 {
		t.log.heads.merge(map[events.StreamID]head{stream: h})
	}
	return h, err
}

// finish stores where the streams and the log end.
func (t *table) finish(b *batch) {
	for stream, h := range b.heads {
		must(t.ends.Put([]byte(stream), h.appendTo(make([]byte, 0, headSize))))
	}
	must(t.records.SetSequence(uint64(b.last)))
}

// must is for errors that bbolt returns for misuse only; the commit turns the panic into a failed one.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// arena holds the stored forms of a group until it is committed.
type arena struct{ buf []byte }

// arenaChunk holds a few hundred records; larger ones get their own.
const arenaChunk = 256 << 10

func (a *arena) reset() { a.buf = a.buf[:0] }

func (a *arena) record(r events.Record) []byte {
	if n := int(r.Size) + 1024; cap(a.buf)-len(a.buf) < n {
		a.buf = make([]byte, 0, max(n, arenaChunk))
	}
	start := len(a.buf)
	b, err := r.AppendBinary(a.buf)
	must(err)
	a.buf = b
	return b[start:len(b):len(b)]
}
