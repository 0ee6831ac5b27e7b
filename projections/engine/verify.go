package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
	"io/fs"
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

	maxTreeDepth  = 16
	tableDepth    = 2 // the root holds views, these hold tables, these hold values
	maxOverflow   = 1 << 14
	maxViewsPages = 1 << 28
)

// pageCheck checks that the pages of a bbolt file form trees: that every page is used at most once, and none that is
// on the free list. bbolt itself would follow a damaged branch in a circle until the stack ends the program, which
// nothing can recover from, and read whatever a damaged page names. A deep check reads the leaves of the tables too.
type pageCheck struct {
	file            io.ReaderAt
	deep            bool
	pageSize, pages uint64
	used            []uint64 // one bit a page
}

// verifyFile returns errDamaged if the file at path is no whole database. None, or an empty one, is whole.
func verifyFile(path string, deep bool) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	c := &pageCheck{file: file, deep: deep}
	root, free, err := c.meta()
	if err != nil {
		return err
	}
	if c.pages*c.pageSize > uint64(info.Size()) {
		return Damaged("file of %d bytes, where %d pages should be", info.Size(), c.pages)
	}
	c.used = make([]uint64, c.pages/64+1)
	if free != noFreeList {
		if err := c.freeList(free); err != nil {
			return err
		}
	}
	return c.tree(root, 0)
}

// meta reads the newest whole meta page.
func (c *pageCheck) meta() (root, free uint64, err error) {
	c.pageSize = uint64(os.Getpagesize())
	var newest uint64
	found := false
	for i := range uint64(2) {
		b := make([]byte, pageHeader+metaSize)
		if _, err := c.file.ReadAt(b, int64(i*c.pageSize)); err != nil {
			continue
		}
		m := b[pageHeader:]
		txid := binary.NativeEndian.Uint64(m[48:])
		if !wholeMeta(m) || found && txid < newest {
			continue
		}
		found, newest, c.pageSize = true, txid, uint64(binary.NativeEndian.Uint32(m[8:]))
		root, free = binary.NativeEndian.Uint64(m[16:]), binary.NativeEndian.Uint64(m[32:])
		c.pages = binary.NativeEndian.Uint64(m[40:])
	}
	if !found || c.pageSize < 512 || c.pageSize > 1<<16 || c.pages > maxViewsPages {
		return 0, 0, Damaged("no whole meta page")
	}
	return root, free, nil
}

func wholeMeta(m []byte) bool {
	sum := fnv.New64a()
	sum.Write(m[:56])
	return binary.NativeEndian.Uint32(m) == metaMagic && sum.Sum64() == binary.NativeEndian.Uint64(m[56:])
}

// mark notes that page id is used, and fails if it already was.
func (c *pageCheck) mark(id uint64) error {
	if id < 2 || id >= c.pages {
		return Damaged("page %d of %d", id, c.pages)
	}
	if c.used[id/64]&(1<<(id%64)) != 0 {
		return Damaged("page %d is used twice", id)
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

func (c *pageCheck) page(id uint64) (page, error) {
	h := make([]byte, pageHeader)
	if _, err := c.file.ReadAt(h, int64(id*c.pageSize)); err != nil {
		return page{}, Damaged("page %d: %v", id, err)
	}
	overflow := uint64(binary.NativeEndian.Uint32(h[12:]))
	if binary.NativeEndian.Uint64(h) != id || overflow > maxOverflow || id+overflow >= c.pages {
		return page{}, Damaged("page %d is not what it says", id)
	}
	for i := range overflow {
		if err := c.mark(id + 1 + i); err != nil {
			return page{}, err
		}
	}
	body := make([]byte, (overflow+1)*c.pageSize-pageHeader)
	if _, err := c.file.ReadAt(body, int64(id*c.pageSize+pageHeader)); err != nil {
		return page{}, Damaged("page %d: %v", id, err)
	}
	return page{
		flags: binary.NativeEndian.Uint16(h[8:]), count: int(binary.NativeEndian.Uint16(h[10:])), body: body,
	}, nil
}

func (c *pageCheck) freeList(id uint64) error {
	if err := c.mark(id); err != nil {
		return err
	}
	p, err := c.page(id)
	if err != nil {
		return err
	}
	count, body := p.count, p.body
	if count == manyFree {
		count, body = int(min(binary.NativeEndian.Uint64(body), c.pages)), body[8:]
	}
	if p.flags != pageFree || count > len(body)/8 {
		return Damaged("free list of %d pages", count)
	}
	for i := range count {
		if err := c.mark(binary.NativeEndian.Uint64(body[8*i:])); err != nil {
			return err
		}
	}
	return nil
}

// tree checks the tree of a bucket, and of the buckets in it. All leaves are equally deep, so the first page of a
// level tells what the level is.
func (c *pageCheck) tree(root uint64, depth int) error {
	level := []uint64{root}
	if err := c.mark(root); err != nil {
		return err
	}
	for range maxTreeDepth {
		var next []uint64
		for i, id := range level {
			p, err := c.page(id)
			if err != nil {
				return err
			}
			if p.flags == pageLeaf && i == 0 && depth == tableDepth && !c.deep {
				return nil
			}
			if next, err = c.node(p, depth, next); err != nil {
				return err
			}
		}
		if level = next; len(level) == 0 {
			return nil
		}
	}
	return Damaged("a tree of more than %d levels", maxTreeDepth)
}

// node checks one page, and appends a branch's children to next.
func (c *pageCheck) node(p page, depth int, next []uint64) ([]uint64, error) {
	switch p.flags {
	case pageLeaf:
		return next, c.leaf(p, depth)
	case pageBranch:
		if p.count == 0 || p.count*pageElement > len(p.body) {
			return nil, Damaged("branch of %d elements", p.count)
		}
	default:
		return nil, Damaged("page with flags %#x in a tree", p.flags)
	}
	for i := range p.count {
		e := p.body[i*pageElement:]
		pos, size := binary.NativeEndian.Uint32(e), binary.NativeEndian.Uint32(e[4:])
		if uint64(pos)+uint64(size) > uint64(len(e)) {
			return nil, Damaged("a branch's key is cut")
		}
		child := binary.NativeEndian.Uint64(e[8:])
		if err := c.mark(child); err != nil {
			return nil, err
		}
		next = append(next, child)
	}
	return next, nil
}

func (c *pageCheck) leaf(p page, depth int) error {
	if p.count*pageElement > len(p.body) {
		return Damaged("leaf of %d elements", p.count)
	}
	var before []byte
	for i := range p.count {
		e := p.body[i*pageElement:]
		flags, pos := binary.NativeEndian.Uint32(e), uint64(binary.NativeEndian.Uint32(e[4:]))
		ksize, vsize := uint64(binary.NativeEndian.Uint32(e[8:])), uint64(binary.NativeEndian.Uint32(e[12:]))
		if pos+ksize+vsize > uint64(len(e)) {
			return Damaged("a leaf's element is cut")
		}
		key, value := e[pos:pos+ksize], e[pos+ksize:pos+ksize+vsize]
		if i > 0 && bytes.Compare(before, key) >= 0 {
			return Damaged("a leaf's keys are out of order")
		}
		before = key
		if err := c.element(flags, value, depth); err != nil {
			return err
		}
	}
	return nil
}

// element checks the bucket that an element is, if it is one. Small buckets lie inside their element.
func (c *pageCheck) element(flags uint32, value []byte, depth int) error {
	if flags&bucketFlag == 0 {
		return nil
	}
	if depth >= tableDepth || len(value) < bucketSize {
		return Damaged("a bucket where none belongs")
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return c.tree(root, depth+1)
	}
	inline := value[bucketSize:]
	if len(inline) < pageHeader || binary.NativeEndian.Uint16(inline[8:]) != pageLeaf {
		return Damaged("a small bucket is cut")
	}
	return c.leaf(page{count: int(binary.NativeEndian.Uint16(inline[10:])), body: inline[pageHeader:]}, depth+1)
}
