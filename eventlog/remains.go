package eventlog

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/cmemd/cmemd/events"
)

// bbolt's file format, version 2, as far as Remains reads it: a page is {id u64, flags u16, count u16, overflow u32}, an element
// of a leaf {flags, offset from itself, key size, value size u32}. Numbers are in the machine's byte order.
const (
	pageHeader  = 16
	pageElement = 16
	pageLeaf    = 0x02
)

// Remains returns the positions of erased records of which a page of the file still holds the payload: pages that nothing leads to
// any more count as well. Between Erase and Compact that is so; after Compact it must not be. An error is one of reading the log.
func (b *Bolt) Remains(ctx context.Context) (found []events.Position, err error) {
	erased := map[events.Position]bool{}
	for r, err := range b.All(ctx, 1) {
		if err != nil {
			return nil, err
		}
		if r.Erased {
			erased[r.Position] = true
		}
	}
	if len(erased) == 0 {
		return nil, nil
	}
	file, err := os.Open(b.path)
	if err != nil {
		return nil, fmt.Errorf("eventlog: %w", err)
	}
	defer file.Close()
	err = eachLeaf(ctx, file, b.pageSize, func(page []byte) {
		for at, stored := range elements(page) {
			r, err := parseRecord(b.cfg.Codec, at, stored)
			if err == nil && !r.Erased && erased[at] {
				erased[at], found = false, append(found, at)
			}
		}
	})
	return found, err
}

// eachLeaf calls f with each page of a file that says that it is a leaf, together with those that it says it runs over to.
func eachLeaf(ctx context.Context, file io.ReaderAt, pageSize int, f func(page []byte)) error {
	head := make([]byte, pageHeader)
	for n := int64(0); ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := file.ReadAt(head, n*int64(pageSize))
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("eventlog: %w", err)
		}
		more := binary.NativeEndian.Uint32(head[12:])
		if binary.NativeEndian.Uint64(head) != uint64(n) || binary.NativeEndian.Uint16(head[8:]) != pageLeaf || int64(more)*int64(pageSize) > maxStored {
			continue
		}
		page := make([]byte, (int(more)+1)*pageSize)
		got, err := file.ReadAt(page, n*int64(pageSize))
		if err != nil && err != io.EOF {
			return fmt.Errorf("eventlog: %w", err)
		}
		f(page[:got])
	}
}

// elements yields what a leaf of the log's bucket holds. What does not lie within the page is passed over.
func elements(page []byte) func(func(events.Position, []byte) bool) {
	count := int(binary.NativeEndian.Uint16(page[10:]))
	return func(yield func(events.Position, []byte) bool) {
		for i := range count {
			start := pageHeader + i*pageElement
			if start+pageElement > len(page) {
				return
			}
			e := page[start:]
			key := uint64(start) + uint64(binary.NativeEndian.Uint32(e[4:]))
			value := key + uint64(binary.NativeEndian.Uint32(e[8:]))
			end := value + uint64(binary.NativeEndian.Uint32(e[12:]))
			if end > uint64(len(page)) {
				continue
			}
			if at := positionOf(page[key:value]); at != 0 && !yield(at, page[value:end]) {
				return
			}
		}
	}
}
