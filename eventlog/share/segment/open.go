package segment

import (
	"encoding/binary"
	"fmt"

	"github.com/cmemd/cmemd/events"
)

// Sealed is a segment whose header was read.
type Sealed struct {
	Header

	clear, body []byte
}

// Parse reads a segment's header; the segment aliases b. It returns ErrDamaged or ErrNewer.
func Parse(b []byte) (Sealed, error) {
	h, n, err := parseHeader(b)
	if err != nil {
		return Sealed{}, err
	}
	return Sealed{Header: h, clear: b[:n], body: b[n:]}, nil
}

// Open returns the records of a segment, opened with the key of its epoch: as many as the header says, from First on, whose links
// lead from Previous to Link, each with the payload that it names or none. It returns ErrDamaged, or what events.Codec.Record returns.
func (c *Codec) Open(s Sealed, epoch EpochKey) ([]events.Record, error) {
	plain, err := c.open(s.clear, s.body, epoch)
	if err != nil {
		return nil, err
	}
	records := make([]events.Record, 0, s.Count)
	linker := Linker{Link: s.Previous}
	for len(plain) > 0 {
		if len(records) == s.Count {
			return nil, fmt.Errorf("%w: more than %d records", ErrDamaged, s.Count)
		}
		var r events.Record
		if r, plain, err = c.next(plain); err != nil {
			return nil, err
		}
		if want := s.First + events.Position(len(records)); r.Position != want {
			return nil, fmt.Errorf("%w: record %d in the place of %d", ErrDamaged, r.Position, want)
		}
		if err := linker.Add(r); err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	if len(records) != s.Count || linker.Link != s.Link {
		return nil, fmt.Errorf("%w: its records are not those that it was signed with", ErrDamaged)
	}
	return records, nil
}

// next cuts the first record off.
func (c *Codec) next(plain []byte) (r events.Record, rest []byte, err error) {
	if len(plain) < 4 || uint64(len(plain)-4) < uint64(binary.BigEndian.Uint32(plain)) {
		return r, nil, fmt.Errorf("%w: a record is cut", ErrDamaged)
	}
	n := 4 + int(binary.BigEndian.Uint32(plain))
	if r, err = c.records.Record(plain[4:n:n]); err == nil {
		err = r.Check()
	}
	return r, plain[n:], err
}
