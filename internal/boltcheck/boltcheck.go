package boltcheck

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// bbolt's file format, version 2, as far as it is checked here: a page is {id u64, flags u16, count u16, overflow u32}
// and its elements; a meta page holds {magic, version, page size, flags u32; root, sequence, free list, high water,
// transaction, checksum u64}. Numbers are in the machine's byte order.
const (
	pageHeader  = 16
	pageElement = 16
	pageBranch  = 0x01
	pageLeaf    = 0x02
	pageFree    = 0x10
	bucketFlag  = 0x01
	bucketSize  = 16
	metaSize    = 64
	metaMagic   = 0xED0CDAED
	noFreeList  = ^uint64(0)
	manyFree    = 0xFFFF // the count stands in the first element

	minPage      = 128     // in bytes
	maxPage      = 1 << 16 // in bytes
	maxTreeDepth = 16      // a tree of 8-byte keys is 4 deep at a billion values
	maxOverflow  = 1 << 14 // 64 MB in one value
	maxPages     = 1 << 28 // 1 TB
)

// Config says what is checked.
type Config struct {
	PageSize int  // in bytes; 0: as the file says
	Depth    int  // how deep buckets nest at most: at 1 those in the root hold values
	Whole    bool // the file must hold all its pages; else those that are missing count where something leads to them
	Deep     bool // read the leaves of the deepest buckets too; without it a check takes milliseconds at a million values
	Strict   bool // pages must be laid out as bbolt lays them out, without a gap, and keys be where branches lead to

	// Value, if not nil, is called with each value that is read and the names of its buckets, from the root's on. Its error is
	// damage. It keeps nothing.
	Value func(buckets []string, key, value []byte) error
}

// Check returns what is damaged in the bbolt file of size bytes, or nil. Its pages must form trees, so that each is used at
// most once, and none that is on the free list. bbolt itself would follow a damaged branch in a circle until the stack ends
// the program, which nothing can recover from, and write over whatever a damaged free list names. An error of reading the file is
// wrapped: it is for the caller to say whether that is damage.
func Check(file io.ReaderAt, size int64, cfg Config) error {
	c := &pages{file: file, cfg: cfg}
	root, free, err := c.meta()
	if err != nil {
		return err
	}
	c.held = uint64(size) / c.pageSize
	if cfg.Whole && c.count*c.pageSize > uint64(size) {
		return fmt.Errorf("file of %d bytes, where %d pages should be", size, c.count)
	}
	c.used = make([]uint64, c.count/64+1)
	if free != noFreeList {
		if _, err := c.freeList(free); err != nil {
			return fmt.Errorf("free list: %w", err)
		}
	}
	return c.checkTree(root, 0)
}

// pages are those of a file, as far as they are known to be used.
type pages struct {
	file            io.ReaderAt
	cfg             Config
	pageSize, count uint64
	held            uint64   // pages of which the file has the end
	metas           int      // meta pages that are whole, each of another transaction
	used            []uint64 // one bit a page
	buckets         []string // names of those that are being read
}

// children are pages to be read, and, where that is to be strict, the keys that their branches have for them; none: the root.
type children struct {
	ids  []uint64
	lows [][]byte
}

func (c children) low(i int) []byte {
	if i >= len(c.lows) {
		return nil
	}
	return c.lows[i]
}

// meta reads the newest whole meta page.
func (c *pages) meta() (root, free uint64, err error) {
	c.pageSize = uint64(cmp.Or(c.cfg.PageSize, os.Getpagesize()))
	var newest uint64
	var unread error // the other meta page may do
	found := false
	for i := range uint64(2) {
		b := make([]byte, pageHeader+metaSize)
		if _, err := c.file.ReadAt(b, int64(i*c.pageSize)); errors.Is(err, io.EOF) {
			continue
		} else if err != nil {
			unread = errors.Join(unread, fmt.Errorf("meta page %d: %w", i, err))
			continue
		}
		m := b[pageHeader:]
		txid := binary.NativeEndian.Uint64(m[48:])
		if !wholeMeta(m) {
			continue
		}
		if found && txid == newest {
			continue // a copy of the other: where there were two, this one is lost
		}
		if c.metas++; found && txid < newest {
			continue
		}
		found, newest = true, txid
		if c.cfg.PageSize == 0 {
			c.pageSize = uint64(binary.NativeEndian.Uint32(m[8:]))
		}
		root, free = binary.NativeEndian.Uint64(m[16:]), binary.NativeEndian.Uint64(m[32:])
		c.count = binary.NativeEndian.Uint64(m[40:])
	}
	if !found && unread != nil {
		return 0, 0, unread
	}
	if !found || c.pageSize < minPage || c.pageSize > maxPage || c.count > maxPages {
		return 0, 0, errors.New("no whole meta page")
	}
	return root, free, nil
}

func wholeMeta(m []byte) bool {
	sum := fnv.New64a()
	sum.Write(m[:56])
	return binary.NativeEndian.Uint32(m) == metaMagic && sum.Sum64() == binary.NativeEndian.Uint64(m[56:])
}

// mark notes that page id is used, and fails if it already was.
func (c *pages) mark(id uint64) error {
	if id < 2 || id >= c.count {
		return fmt.Errorf("page %d of %d", id, c.count)
	}
	if c.used[id/64]&(1<<(id%64)) != 0 {
		return fmt.Errorf("page %d is used twice", id)
	}
	c.used[id/64] |= 1 << (id % 64)
	return nil
}

// page is one page of the file, its overflow included.
type page struct {
	flags uint16
	count int
	body  []byte
}

func (c *pages) page(id, most uint64) (page, error) {
	if id >= c.held && id < c.count {
		return page{}, &CutError{id}
	}
	h := make([]byte, pageHeader)
	if _, err := c.file.ReadAt(h, int64(id*c.pageSize)); err != nil {
		return page{}, fmt.Errorf("page %d: %w", id, err)
	}
	overflow := uint64(binary.NativeEndian.Uint32(h[12:]))
	if binary.NativeEndian.Uint64(h) == id && overflow <= most && id+overflow >= c.held && id+overflow < c.count {
		return page{}, &CutError{c.held}
	}
	if binary.NativeEndian.Uint64(h) != id || overflow > most || id+overflow >= c.count {
		return page{}, fmt.Errorf("page %d is not what it says", id)
	}
	for i := range overflow {
		if err := c.mark(id + 1 + i); err != nil {
			return page{}, err
		}
	}
	body := make([]byte, (overflow+1)*c.pageSize-pageHeader)
	if _, err := c.file.ReadAt(body, int64(id*c.pageSize+pageHeader)); err != nil {
		return page{}, fmt.Errorf("page %d: %w", id, err)
	}
	return page{
		flags: binary.NativeEndian.Uint16(h[8:]), count: int(binary.NativeEndian.Uint16(h[10:])), body: body,
	}, nil
}

// freeList reads the free list at a page, and marks the pages that it names.
func (c *pages) freeList(id uint64) ([]uint64, error) {
	if err := c.mark(id); err != nil {
		return nil, err
	}
	p, err := c.page(id, c.count*8/c.pageSize) // eight bytes a free page
	if err != nil {
		return nil, err
	}
	count, body := p.count, p.body
	if count == manyFree {
		count, body = int(min(binary.NativeEndian.Uint64(body), c.count)), body[8:]
	}
	if p.flags != pageFree || count > len(body)/8 {
		return nil, fmt.Errorf("free list of %d pages", count)
	}
	ids := make([]uint64, count)
	for i := range ids {
		ids[i] = binary.NativeEndian.Uint64(body[8*i:])
		if err := c.mark(ids[i]); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// checkTree checks the tree of a bucket, and of the buckets in it. All leaves are equally deep, so the first page of a
// level tells what the level is.
func (c *pages) checkTree(root uint64, nesting int) error {
	level := children{ids: []uint64{root}}
	if err := c.mark(root); err != nil {
		return err
	}
	for range maxTreeDepth {
		var next children
		var last []byte // key of the page before
		for i, id := range level.ids {
			p, err := c.page(id, maxOverflow)
			if err != nil {
				return err
			}
			if p.flags == pageLeaf && i == 0 && nesting == c.cfg.Depth && !c.cfg.Deep {
				return nil
			}
			if err := c.checkNode(p, nesting, &next); err != nil {
				return err
			}
			if last, err = c.follows(last, level.low(i), p); err != nil {
				return err
			}
		}
		if level = next; len(level.ids) == 0 {
			return nil
		}
	}
	return fmt.Errorf("a tree of more than %d levels", maxTreeDepth)
}

// follows checks the order of pages if Config.Strict asks for it, and returns the last key of p, whose own order is checked already.
// Before is the last key of the page before, low the key that the branch has for p: before < low <= the first key of p must hold.
func (c *pages) follows(before, low []byte, p page) (last []byte, err error) {
	if !c.cfg.Strict || p.count == 0 {
		return before, nil
	}
	first := p.key(0)
	if low != nil && bytes.Compare(first, low) < 0 || before != nil && (bytes.Compare(first, before) <= 0 || bytes.Compare(low, before) <= 0) {
		return nil, errors.New("a page's keys are not where its branch says")
	}
	return p.key(p.count - 1), nil
}

// key is the key of an element of a page that is whole.
func (p page) key(i int) []byte {
	e := p.body[i*pageElement:]
	pos, size := binary.NativeEndian.Uint32(e), binary.NativeEndian.Uint32(e[4:])
	if p.flags == pageLeaf {
		pos, size = binary.NativeEndian.Uint32(e[4:]), binary.NativeEndian.Uint32(e[8:])
	}
	return e[pos : pos+size]
}

// checkNode checks one page, and appends a branch's children to next.
func (c *pages) checkNode(p page, nesting int, next *children) error {
	switch p.flags {
	case pageLeaf:
		return c.leaf(p, nesting)
	case pageBranch:
		if p.count == 0 || p.count*pageElement > len(p.body) {
			return fmt.Errorf("branch of %d elements", p.count)
		}
	default:
		return fmt.Errorf("page with flags %#x in a tree", p.flags)
	}
	packed := p.count * pageElement // where the next key must begin
	for i := range p.count {
		e := p.body[i*pageElement:]
		pos, size := binary.NativeEndian.Uint32(e), binary.NativeEndian.Uint32(e[4:])
		if uint64(pos)+uint64(size) > uint64(len(e)) {
			return errors.New("a branch's key is cut")
		}
		if c.cfg.Strict && i*pageElement+int(pos) != packed {
			return errors.New("a branch has a gap")
		}
		packed += int(size)
		id := binary.NativeEndian.Uint64(e[8:])
		if err := c.mark(id); err != nil {
			return err
		}
		next.ids = append(next.ids, id)
		if c.cfg.Strict {
			next.lows = append(next.lows, e[pos:pos+size])
		}
	}
	return nil
}

func (c *pages) leaf(p page, nesting int) error {
	if p.count*pageElement > len(p.body) {
		return fmt.Errorf("leaf of %d elements", p.count)
	}
	var before []byte
	packed := p.count * pageElement // where the next element must begin
	for i := range p.count {
		e := p.body[i*pageElement:]
		flags, pos := binary.NativeEndian.Uint32(e), uint64(binary.NativeEndian.Uint32(e[4:]))
		ksize, vsize := uint64(binary.NativeEndian.Uint32(e[8:])), uint64(binary.NativeEndian.Uint32(e[12:]))
		if pos+ksize+vsize > uint64(len(e)) {
			return errors.New("a leaf's element is cut")
		}
		if c.cfg.Strict && (i*pageElement+int(pos) != packed || flags&^bucketFlag != 0) {
			return errors.New("a leaf has a gap")
		}
		packed += int(ksize + vsize)
		key, value := e[pos:pos+ksize], e[pos+ksize:pos+ksize+vsize]
		if i > 0 && bytes.Compare(before, key) >= 0 {
			return errors.New("a leaf's keys are out of order")
		}
		before = key
		if err := c.element(flags, key, value, nesting); err != nil {
			return err
		}
	}
	return nil
}

// element checks the bucket that an element is, if it is one. Small buckets lie inside their element.
func (c *pages) element(flags uint32, key, value []byte, nesting int) error {
	if flags&bucketFlag == 0 {
		if c.cfg.Value != nil {
			return c.cfg.Value(c.buckets, key, value)
		}
		return nil
	}
	if nesting >= c.cfg.Depth || len(value) < bucketSize {
		return errors.New("a bucket where none belongs")
	}
	c.buckets = append(c.buckets, string(key))
	defer func() { c.buckets = c.buckets[:len(c.buckets)-1] }()
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return c.checkTree(root, nesting+1)
	}
	inline := value[bucketSize:]
	if len(inline) < pageHeader || binary.NativeEndian.Uint16(inline[8:]) != pageLeaf {
		return errors.New("a small bucket is cut")
	}
	return c.leaf(page{count: int(binary.NativeEndian.Uint16(inline[10:])), body: inline[pageHeader:]}, nesting+1)
}
