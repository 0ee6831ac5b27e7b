package boltcheck

import (
	"encoding/binary"
	"fmt"
	"io"
)

// An Element is a key with its value, as a leaf of a bucket holds it. Both are bytes of the page, and its own while it is visited.
type Element struct {
	Bucket     string // that the root holds; empty: not known
	Offset     int64  // of the key in the file; the value follows it
	Key, Value []byte
}

// Reached is what a file says of itself whose pages may be damaged.
type Reached struct {
	Metas        int               // meta pages that are whole, each of another transaction: 2 where none is lost
	MissingPages int               // pages that something leads to and that are not what they should be
	Sequences    map[string]uint64 // of the buckets in the root
}

// Reach visits the elements of the buckets in the root that can still be reached from the newest whole meta page of the bbolt file of
// size bytes. What is damaged is passed over: visit is called for what is behind it too. Each page is read once, so that a circle
// ends. Of hostile bytes a page costs at most maxOverflow pages of memory, one at a time.
func Reach(file io.ReaderAt, size int64, visit func(Element)) Reached {
	c := &pages{file: file, cfg: Config{Depth: 1}}
	r := &reacher{pages: c, visit: visit, out: Reached{Sequences: map[string]uint64{}}}
	root, _, err := c.meta()
	r.out.Metas = c.metas
	if err != nil {
		return r.out
	}
	c.held = uint64(size) / c.pageSize
	c.used = make([]uint64, min(c.count, c.held)/64+1)
	c.count = min(c.count, c.held)
	r.tree(root, r.bucketIn)
	return r.out
}

// A CutError is a file that ends before a page that something leads to.
type CutError struct{ Page uint64 }

func (e *CutError) Error() string { return fmt.Sprintf("the file ends before page %d", e.Page) }

// reacher walks the trees of a file.
type reacher struct {
	*pages
	visit func(Element)
	out   Reached
}

// tree calls take with each element of the leaves below root, and where it lies.
func (r *reacher) tree(root uint64, take func(e leafElement)) {
	for left := []uint64{root}; len(left) > 0; {
		id := left[len(left)-1]
		left = left[:len(left)-1]
		if r.mark(id) != nil {
			r.out.MissingPages++
			continue
		}
		p, err := r.page(id, maxOverflow)
		switch {
		case err != nil:
			r.out.MissingPages++
		case p.flags == pageBranch:
			left = append(left, childrenOf(p)...)
		case p.flags == pageLeaf:
			eachElement(p, int64(id*r.pageSize)+pageHeader, take)
		default:
			r.out.MissingPages++
		}
	}
}

func childrenOf(p page) []uint64 {
	n := min(p.count, len(p.body)/pageElement)
	children := make([]uint64, 0, n)
	for i := range n {
		children = append(children, binary.NativeEndian.Uint64(p.body[i*pageElement+8:]))
	}
	return children
}

// leafElement is an element of a leaf, and where its key lies in the file.
type leafElement struct {
	flags      uint32
	offset     int64
	key, value []byte
}

// eachElement calls take with the elements of a leaf whose body lies at offset, as far as they are in it.
func eachElement(p page, offset int64, take func(leafElement)) {
	for i := range min(p.count, len(p.body)/pageElement) {
		e := p.body[i*pageElement:]
		flags, pos := binary.NativeEndian.Uint32(e), uint64(binary.NativeEndian.Uint32(e[4:]))
		ksize, vsize := uint64(binary.NativeEndian.Uint32(e[8:])), uint64(binary.NativeEndian.Uint32(e[12:]))
		if pos+ksize+vsize <= uint64(len(e)) {
			take(leafElement{flags, offset + int64(i*pageElement) + int64(pos), e[pos : pos+ksize], e[pos+ksize : pos+ksize+vsize]})
		}
	}
}

// bucketIn walks a bucket of the root. A small one lies inside its element.
func (r *reacher) bucketIn(e leafElement) {
	if e.flags&bucketFlag == 0 || len(e.value) < bucketSize {
		return
	}
	name := string(e.key)
	take := func(e leafElement) {
		if e.flags&bucketFlag == 0 {
			r.visit(Element{Bucket: name, Offset: e.offset, Key: e.key, Value: e.value})
		}
	}
	r.out.Sequences[name] = binary.NativeEndian.Uint64(e.value[8:])
	if root := binary.NativeEndian.Uint64(e.value); root != 0 {
		r.tree(root, take)
		return
	}
	if inline := e.value[bucketSize:]; len(inline) >= pageHeader && binary.NativeEndian.Uint16(inline[8:]) == pageLeaf {
		p := page{count: int(binary.NativeEndian.Uint16(inline[10:])), body: inline[pageHeader:]}
		eachElement(p, e.offset+int64(len(e.key))+bucketSize+pageHeader, take)
	}
}
