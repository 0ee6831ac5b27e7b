package eventlog

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
)

// bbolt's file format, version 2, as far as checkPages reads it: a page is {id u64, flags u16, count u16, overflow
// u32} and its elements; a meta page holds {magic, version, page size, flags u32; root, sequence, free list, high
// water, transaction, checksum u64}. Numbers are in the machine's byte order.
const (
	pageHeader   = 16
	pageElement  = 16
	pageBranch   = 0x01
	pageLeaf     = 0x02
	metaSize     = 64
	metaMagic    = 0xED0CDAED
	noFreeList   = ^uint64(0)
	manyFree     = 0xFFFF // the count stands in the first element
	maxTreeDepth = 16     // a tree of 8-byte keys is 4 deep at a billion records
)

// pageTree checks that the pages of a bbolt file form trees: that every page is used at most once, and none that the
// free list has. bbolt itself follows a damaged branch in a circle until the stack ends the program, and writes over
// whatever a damaged free list names. Leaves are not read, so that the check takes milliseconds at a million records.
type pageTree struct {
	file     io.ReaderAt
	pageSize uint64
	pages    uint64   // the high-water mark
	used     []uint64 // one bit a page
	buf      []byte
}

// checkPages returns a *CorruptError, or ErrNotLog for a database whose buckets do not fit one page.
func checkPages(file io.ReaderAt, pageSize int) error {
	t := &pageTree{file: file, pageSize: uint64(pageSize)}
	root, free, err := t.meta()
	if err != nil {
		return err
	}
	if t.pages > 1<<40/t.pageSize {
		return corruptf(0, "", "%d pages", t.pages)
	}
	t.used = make([]uint64, t.pages/64+1)
	if free != noFreeList {
		if err := t.freeList(free); err != nil {
			return err
		}
	}
	if err := t.mark(root); err != nil {
		return err
	}
	return t.buckets(root)
}

// meta reads the newest whole meta page.
func (t *pageTree) meta() (root, free uint64, err error) {
	var newest uint64
	found := false
	for i := range int64(2) {
		b := make([]byte, pageHeader+metaSize)
		if _, err := t.file.ReadAt(b, i*int64(t.pageSize)); err != nil {
			continue
		}
		m := b[pageHeader:]
		txid := binary.NativeEndian.Uint64(m[48:])
		if !validMeta(m) || found && txid < newest {
			continue
		}
		found, newest = true, txid
		root, free = binary.NativeEndian.Uint64(m[16:]), binary.NativeEndian.Uint64(m[32:])
		t.pages = binary.NativeEndian.Uint64(m[40:])
	}
	if !found {
		return 0, 0, corruptf(0, "", "no whole meta page")
	}
	return root, free, nil
}

func validMeta(m []byte) bool {
	sum := fnv.New64a()
	sum.Write(m[:56])
	return binary.NativeEndian.Uint32(m) == metaMagic && sum.Sum64() == binary.NativeEndian.Uint64(m[56:])
}

// page reads page id whole; it is valid until the next call.
func (t *pageTree) page(id uint64) (flags uint16, count int, body []byte, err error) {
	if id < 2 || id >= t.pages {
		return 0, 0, nil, corruptf(0, "", "page %d of %d", id, t.pages)
	}
	h := make([]byte, pageHeader)
	if _, err := t.file.ReadAt(h, int64(id*t.pageSize)); err != nil {
		return 0, 0, nil, corruptf(0, "", "page %d: %s", id, err)
	}
	overflow := uint64(binary.NativeEndian.Uint32(h[12:]))
	if binary.NativeEndian.Uint64(h) != id || id+overflow >= t.pages {
		return 0, 0, nil, corruptf(0, "", "page %d is not where it says", id)
	}
	n := int((overflow + 1) * t.pageSize)
	if cap(t.buf) < n {
		t.buf = make([]byte, n)
	}
	if _, err := t.file.ReadAt(t.buf[:n], int64(id*t.pageSize)); err != nil {
		return 0, 0, nil, corruptf(0, "", "page %d: %s", id, err)
	}
	return binary.NativeEndian.Uint16(h[8:]), int(binary.NativeEndian.Uint16(h[10:])), t.buf[pageHeader:n], nil
}

// mark notes that page id is used, and fails if it already was.
func (t *pageTree) mark(id uint64) error {
	if id < 2 || id >= t.pages {
		return corruptf(0, "", "page %d of %d", id, t.pages)
	}
	if t.used[id/64]&(1<<(id%64)) != 0 {
		return corruptf(0, "", "page %d is used twice", id)
	}
	t.used[id/64] |= 1 << (id % 64)
	return nil
}

func (t *pageTree) freeList(id uint64) error {
	if err := t.mark(id); err != nil {
		return err
	}
	_, count, body, err := t.page(id)
	if err != nil {
		return err
	}
	if count == manyFree {
		count, body = int(min(binary.NativeEndian.Uint64(body), t.pages)), body[8:]
	}
	if count > len(body)/8 {
		return corruptf(0, "", "free list of %d pages", count)
	}
	for i := range count {
		if err := t.mark(binary.NativeEndian.Uint64(body[8*i:])); err != nil {
			return fmt.Errorf("free list: %w", err)
		}
	}
	return nil
}

// buckets walks the tree of every bucket that the leaf root names. Small buckets lie inside that leaf.
func (t *pageTree) buckets(root uint64) error {
	flags, count, body, err := t.page(root)
	if err != nil {
		return err
	}
	if flags != pageLeaf {
		return fmt.Errorf("%w: the root of its buckets is no leaf", ErrNotLog)
	}
	var roots []uint64
	for i := range count {
		v, err := leafValue(body, i)
		if err != nil {
			return err
		}
		if r := binary.NativeEndian.Uint64(v); r != 0 {
			roots = append(roots, r)
		}
	}
	for _, r := range roots {
		if err := t.walk(r); err != nil {
			return err
		}
	}
	return nil
}

// leafValue is the bucket header that element i of a leaf holds.
func leafValue(body []byte, i int) ([]byte, error) {
	at := uint64(i) * pageElement
	if at+pageElement > uint64(len(body)) {
		return nil, corruptf(0, "", "root leaf is cut")
	}
	pos := binary.NativeEndian.Uint32(body[at+4:])
	ksize, vsize := binary.NativeEndian.Uint32(body[at+8:]), binary.NativeEndian.Uint32(body[at+12:])
	start := at + uint64(pos) + uint64(ksize)
	if vsize < 16 || start+uint64(vsize) > uint64(len(body)) {
		return nil, fmt.Errorf("%w: its root holds more than buckets", ErrNotLog)
	}
	return body[start : start+uint64(vsize)], nil
}

// walk marks every page of a tree. All leaves are equally deep, so the first page of a level tells what the level is.
func (t *pageTree) walk(root uint64) error {
	level := []uint64{root}
	if err := t.mark(root); err != nil {
		return err
	}
	for range maxTreeDepth {
		flags, _, _, err := t.page(level[0])
		if err != nil || flags == pageLeaf {
			return err
		}
		var next []uint64
		for _, id := range level {
			if next, err = t.children(next, id); err != nil {
				return err
			}
		}
		level = next
	}
	return corruptf(0, "", "tree of page %d is deeper than %d", root, maxTreeDepth)
}

func (t *pageTree) children(next []uint64, id uint64) ([]uint64, error) {
	flags, count, body, err := t.page(id)
	if err != nil {
		return nil, err
	}
	if flags != pageBranch || count == 0 || count*pageElement > len(body) {
		return nil, corruptf(0, "", "page %d is no branch", id)
	}
	for i := range count {
		child := binary.NativeEndian.Uint64(body[i*pageElement+8:])
		if err := t.mark(child); err != nil {
			return nil, err
		}
		next = append(next, child)
	}
	return next, nil
}
