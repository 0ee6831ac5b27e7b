package boltcheck

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// Unused lists the pages of a bbolt file of size bytes that no state uses which its meta pages lead to: those that both free lists
// name. end is the first page behind all states, and pageSize in bytes. A file whose free list is not kept in it is an error, and so is one
// whose newest state cannot be read.
func Unused(file io.ReaderAt, size int64) (free []uint64, end, pageSize uint64, err error) {
	newest := &pages{file: file}
	if _, _, err = newest.meta(); err != nil {
		return nil, 0, 0, err
	}
	pageSize = newest.pageSize
	states := 0
	for i := range uint64(2) {
		m := make([]byte, metaSize)
		if _, err := file.ReadAt(m, int64(i*pageSize+pageHeader)); err != nil || !wholeMeta(m) {
			continue // no state
		}
		count, list := binary.NativeEndian.Uint64(m[40:]), binary.NativeEndian.Uint64(m[32:])
		ids, err := freeIn(file, size, pageSize, count, list)
		if err != nil {
			return nil, 0, 0, err
		}
		if states++; states == 1 {
			free = ids
		} else {
			free = both(free, ids)
		}
		end = max(end, count)
	}
	return free, end, pageSize, nil
}

// Free is how many pages of a bbolt file of size bytes its newest state does not use. A file whose free list is not kept in it is an
// error.
func Free(file io.ReaderAt, size int64) (pageCount int, err error) {
	c := &pages{file: file}
	_, list, err := c.meta()
	if err != nil {
		return 0, err
	}
	ids, err := freeIn(file, size, c.pageSize, c.count, list)
	return len(ids), err
}

// freeIn lists the pages that one free list names, in order.
func freeIn(file io.ReaderAt, size int64, pageSize, count, list uint64) ([]uint64, error) {
	if list == noFreeList || count > maxPages {
		return nil, errors.New("the file does not keep its free list")
	}
	c := &pages{file: file, pageSize: pageSize, count: count, held: uint64(size) / pageSize, used: make([]uint64, count/64+1)}
	ids, err := c.freeList(list)
	if err != nil {
		return nil, err
	}
	ids = slices.DeleteFunc(ids, func(id uint64) bool { return id >= c.held })
	slices.Sort(ids)
	return ids, nil
}

// both are those of a that are in b; both are in order.
func both(a, b []uint64) (out []uint64) {
	for _, id := range a {
		if _, ok := slices.BinarySearch(b, id); ok {
			out = append(out, id)
		}
	}
	return out
}
