package eventlog

import (
	"encoding/binary"
	"time"

	"go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
)

// batch is the changes of one transaction. Each of them either happens whole or returns an error and leaves the log as it
// was. The last fields say where the log ends once the changes are made.
type batch struct {
	codec   *events.Codec
	known   *headCache // of the commits before
	records *bbolt.Bucket
	ends    *bbolt.Bucket
	before  func() (*bbolt.Bucket, error) // the table of that name
	arena   *arena
	dirty   bool // something is to be committed
	format  int  // that records of the batch ask for; 0: any

	last     events.Position
	recorded time.Time // of the last record
	heads    map[events.StreamID]head

	appended []events.Record
	stripped []events.Position
}

// headOf is the end of stream with the changes of this batch; the zero head for an unknown stream.
func (b *batch) headOf(stream events.StreamID) (head, error) {
	if h, ok := b.heads[stream]; ok {
		return h, nil
	}
	if h, ok := b.known.get(stream); ok {
		return h, nil
	}
	var h head
	err := withFaults(func() (err error) { // a page that cannot be read is one stream's matter, and nothing is changed yet
		h, err = headIn(b.records, b.ends, b.codec, stream)
		return err
	})
	if err == nil && h.Version > 0 {
		b.known.merge(map[events.StreamID]head{stream: h})
	}
	return h, err
}

// put stores r at its position. It panics where bbolt does not take it, and the commit fails then.
func (b *batch) put(r events.Record) {
	b.dirty = true
	if r.Withheld {
		b.format = max(b.format, withheldFormat)
	}
	must(b.records.Put(keyOf(r.Position), b.arena.record(r)))
}

// finish stores where the streams and the log end, and what format the file has from now on.
func (b *batch) finish() {
	for stream, h := range b.heads {
		must(b.ends.Put([]byte(stream), b.arena.head(h)))
	}
	must(b.records.SetSequence(uint64(b.last)))
	if v := b.ends.Get(formatKey); len(v) == 4 && int(binary.BigEndian.Uint32(v)) < b.format {
		must(b.ends.Put(formatKey, binary.BigEndian.AppendUint32(nil, uint32(b.format))))
	}
}

func (b *batch) add(r events.Record) {
	b.put(r)
	t, _ := r.Kind.Traits()
	b.format = max(b.format, t.Format)
	b.last, b.recorded, b.heads[r.Stream] = r.Position, r.RecordedAt, after(r)
}

// append places sealed drafts at the end of stream, recorded at now or, if the clock went back, with the last record.
func (b *batch) append(stream events.StreamID, expected events.Version, sealed []events.Sealed, now time.Time) ([]events.Record, error) {
	h, err := b.headOf(stream)
	if err != nil {
		return nil, err
	}
	if h.Version != expected {
		return nil, &WrongVersionError{Stream: stream, Expected: expected, Actual: h.Version}
	}
	if now.Before(b.recorded) {
		now = b.recorded
	}
	records := make([]events.Record, len(sealed))
	for i, s := range sealed {
		records[i] = b.codec.Place(s, b.last+1, stream, h.Version+1, h.Last, h.Chain, now)
		b.add(records[i])
		h = after(records[i])
	}
	b.appended = append(b.appended, records...)
	return records, nil
}

// strip takes payloads away as how says: events.Record.Erase, or Withhold.
func (b *batch) strip(at []events.Position, how func(events.Record) events.Record) error {
	stripped := make([]events.Record, 0, len(at))
	for _, p := range at {
		var r events.Record
		err := withFaults(func() (err error) {
			r, err = recordIn(b.records, b.codec, p)
			return err
		})
		if err != nil {
			return positioned(err, p)
		}
		if left := how(r); left.Erased != r.Erased || left.Withheld != r.Withheld {
			stripped = append(stripped, left)
		}
	}
	for _, r := range stripped {
		b.put(r)
		b.stripped = append(b.stripped, r.Position)
	}
	return nil
}

// restore adds records as they are, if they continue the log.
func (b *batch) restore(records []events.Record) error {
	c := chain{last: b.last, recorded: b.recorded, heads: map[events.StreamID]head{}, before: b.headOf}
	for _, r := range records {
		if err := c.admit(r); err != nil {
			return err
		}
	}
	for _, r := range records {
		b.add(r)
	}
	return nil
}

// chain checks that records continue a log: their positions, versions, back-pointers, times and chains.
type chain struct {
	last     events.Position
	recorded time.Time
	heads    map[events.StreamID]head            // of the records admitted so far
	before   func(events.StreamID) (head, error) // of those before them
	gaps     bool                                // some are lost: what lies behind them in their streams is not to be checked
}

// newChain checks records from the first on.
func newChain() *chain {
	return &chain{
		recorded: time.Unix(0, -1<<63), heads: map[events.StreamID]head{},
		before: func(events.StreamID) (head, error) { return head{}, nil },
	}
}

// admitWhole is admit, and checks r's payload too.
func (c *chain) admitWhole(r events.Record) error {
	if err := c.admit(r); err != nil {
		return err
	}
	return checkPayload(r)
}

// skip passes over the next record, which is lost.
func (c *chain) skip() { c.last, c.gaps = c.last+1, true }

// jumps reports whether r may follow h in its stream behind records that are lost.
func (c *chain) jumps(h head, r events.Record) bool {
	return c.gaps && r.Version > h.Version+1 && r.Previous > h.Last && r.Previous < r.Position
}

// admit returns a *CorruptError unless r is what comes next.
func (c *chain) admit(r events.Record) error {
	bad := func(format string, args ...any) error { return corruptf(r.Position, r.Stream, format, args...) }
	h, known := c.heads[r.Stream]
	var err error
	if !known {
		h, err = c.before(r.Stream)
	}
	switch {
	case err != nil:
		return err
	case checkStream(r.Stream) != nil:
		return bad("no log takes a stream of the name %.40q", string(r.Stream))
	case r.Position != c.last+1:
		return bad("the position before is %d", c.last)
	case c.jumps(h, r) && !r.RecordedAt.Before(c.recorded):
	case r.Version != h.Version+1:
		return bad("version %d follows version %d", r.Version, h.Version)
	case r.Previous != h.Last:
		return bad("points back to %d, the record before in its stream is at %d", r.Previous, h.Last)
	case r.RecordedAt.Before(c.recorded):
		return bad("recorded at %s, before its predecessor at %s", r.RecordedAt.Format(time.RFC3339Nano), c.recorded.Format(time.RFC3339Nano))
	case r.Chain != events.NextChain(h.Chain, r.Header):
		return bad("the chain does not hold")
	}
	c.last, c.recorded, c.heads[r.Stream] = r.Position, r.RecordedAt, after(r)
	return nil
}
