package jsonedit

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

// A Document is a JSON text and what stands where in it. The first error ends it: see Err. It is not safe for concurrent use.
type Document struct {
	text   []byte
	strict []byte // as encoding/json takes it, each byte at its place
	root   *node  // nil: there is no value yet, the text is blank, or holds comments only
	err    error
}

// byteOrderMark is what some editors put in front of a text.
const byteOrderMark = "\ufeff"

// Parse reads a text; the document keeps it and never writes to it. A blank text is a document without a value, into which
// the first edit puts an object. Its Err wraps ErrSyntax, or ErrShape where the value is not an object.
func Parse(text []byte) *Document {
	plain, strict := plainText(text)
	d := &Document{text: text, strict: strict}
	begin := jsonscan.Space(plain, 0)
	if begin == len(plain) {
		return d
	}
	if d.err = checkStrict(strict); d.err != nil {
		return d
	}
	root := nodeAt(plain, begin)
	if d.root = &root; root.kind != '{' {
		d.err = fmt.Errorf("%w: it is no object", ErrShape)
	}
	return d
}

// Err is the first error, of Parse, of looking something up or of an edit. After it nothing stands anywhere, and no edit does
// anything.
func (d *Document) Err() error { return d.err }

// Bytes is the text as it is now, or Err. The caller does not write to it.
func (d *Document) Bytes() ([]byte, error) {
	if d.err != nil {
		return nil, d.err
	}
	return d.text, nil
}

// Len is how many elements or members stand at path: names of members and numbers of elements, from the top. It is 0 where
// nothing stands there, or no array or object.
func (d *Document) Len(path ...any) int {
	if n := d.find(path); n != nil {
		return len(n.items)
	}
	return 0
}

// Keys lists the members of the object at path, in their order; none where no object stands there.
func (d *Document) Keys(path ...any) (keys []string) {
	if n := d.find(path); n != nil && n.kind == '{' {
		for _, it := range n.items {
			keys = append(keys, it.key)
		}
	}
	return keys
}

// Get decodes what stands at path as encoding/json does into an any, numbers as json.Number. It reports whether anything
// stands there. Err is ErrTwice where an object in it has a key twice.
func (d *Document) Get(path ...any) (value any, ok bool) {
	n := d.find(path)
	if n == nil {
		return nil, false
	}
	if d.err = n.once(true); d.err != nil {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(d.strict[n.start:n.end]))
	dec.UseNumber()
	d.err = dec.Decode(&value)
	return value, d.err == nil
}

// find returns the node at path, or nil where none stands.
func (d *Document) find(path []any) *node {
	at := d.root
	for _, step := range path {
		i := d.index(at, step)
		if i < 0 {
			return nil
		}
		at = &at.items[i].value
	}
	if d.err == nil && at != nil {
		d.err = at.once(false)
	}
	if d.err != nil {
		return nil
	}
	return at
}

// index is which of n's items step names; below 0 none.
func (d *Document) index(n *node, step any) int {
	found := -1
	if n == nil || d.err != nil {
		return found
	}
	for i, it := range n.items {
		switch {
		case n.kind == '{' && step != it.key, n.kind == '[' && step != i:
		case found >= 0:
			d.err = fmt.Errorf("%q %w", it.key, ErrTwice)
			return -1
		default:
			found = i
		}
	}
	return found
}

// once refuses an object that has a key twice, and, where deep, what has such an object in it.
func (n *node) once(deep bool) error {
	seen := make(map[string]bool, len(n.items))
	for _, it := range n.items {
		if seen[it.key] && n.kind == '{' {
			return fmt.Errorf("%q %w", it.key, ErrTwice)
		}
		seen[it.key] = true
		if deep {
			if err := it.value.once(true); err != nil {
				return err
			}
		}
	}
	return nil
}

// splice puts text in the place of what stands from one byte to another, and reads the whole again. That what comes of it
// is JSON is for the caller to see to: an error here is a fault of this package.
func (d *Document) splice(cuts ...cut) {
	var out []byte
	at := 0
	for _, c := range cuts {
		out = append(append(out, d.text[at:c.from]...), c.text...)
		at = c.to
	}
	next := Parse(append(out, d.text[at:]...))
	if next.err != nil {
		d.err = fmt.Errorf("jsonedit: an edit went wrong: %w", next.err)
		return
	}
	*d = *next
}

// A cut is one piece of a text, and what comes in its place.
type cut struct {
	from, to int
	text     string
}
