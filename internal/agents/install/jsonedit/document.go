package jsonedit

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A Document is a JSON text and what stands where in it. It is not safe for concurrent use.
type Document struct {
	text []byte
	root node
	none bool // there is no value yet: the text is blank, or holds comments only
}

// byteOrderMark is what some editors put in front of a text.
const byteOrderMark = "\ufeff"

// Parse reads a text; the document keeps it and never writes to it. A blank text is a document without a value, into which
// the first edit puts an object. Errors wrap ErrSyntax, or ErrShape where the value is not an object.
func Parse(text []byte) (*Document, error) {
	s := &scanner{text: text}
	if bytes.HasPrefix(text, []byte(byteOrderMark)) {
		s.at = len(byteOrderMark)
	}
	if err := s.skip(); err != nil {
		return nil, err
	}
	if s.at == len(text) {
		return &Document{text: text, none: true}, nil
	}
	root, err := s.value(0)
	if err != nil {
		return nil, err
	}
	if err := s.skip(); err != nil {
		return nil, err
	}
	if s.at != len(text) {
		return nil, s.fail("something stands behind the end")
	}
	if root.kind != kindObject {
		return nil, fmt.Errorf("the whole %w: it is no object", ErrShape)
	}
	return &Document{text: text, root: root}, nil
}

// Bytes is the text as it is now. The caller does not write to it.
func (d *Document) Bytes() []byte { return d.text }

// Len is how many elements or members stand at path: names of members and numbers of elements, from the top. It is 0 where
// nothing stands there, or no array or object.
func (d *Document) Len(path ...any) (int, error) {
	n, err := d.find(path)
	if n == nil || err != nil {
		return 0, err
	}
	return len(n.items), nil
}

// Keys lists the members of the object at path, in their order; none where no object stands there.
func (d *Document) Keys(path ...any) ([]string, error) {
	n, err := d.find(path)
	if n == nil || err != nil || n.kind != kindObject {
		return nil, err
	}
	var keys []string
	for _, it := range n.items {
		keys = append(keys, it.key)
	}
	return keys, nil
}

// Get decodes what stands at path as encoding/json does into an any, numbers as json.Number. It reports whether anything
// stands there. The error is ErrTwice.
func (d *Document) Get(path ...any) (value any, ok bool, err error) {
	n, err := d.find(path)
	if n == nil || err != nil {
		return nil, false, err
	}
	value, err = d.decode(*n)
	return value, err == nil, err
}

// find returns the node at path, or nil where none stands.
func (d *Document) find(path []any) (*node, error) {
	if d.none {
		return nil, nil
	}
	at := &d.root
	for _, step := range path {
		i, err := at.index(step)
		if err != nil || i < 0 {
			return nil, err
		}
		at = &at.items[i].value
	}
	if at.kind == kindObject {
		return at, at.once()
	}
	return at, nil
}

// index is which of n's items step names; below 0 none.
func (n *node) index(step any) (int, error) {
	switch step := step.(type) {
	case int:
		if n.kind == kindArray && step >= 0 && step < len(n.items) {
			return step, nil
		}
	case string:
		if n.kind == kindObject {
			return n.member(step)
		}
	}
	return -1, nil
}

func (n *node) member(key string) (int, error) {
	found := -1
	for i, it := range n.items {
		switch {
		case it.key != key:
		case found >= 0:
			return -1, fmt.Errorf("%q %w", key, ErrTwice)
		default:
			found = i
		}
	}
	return found, nil
}

// once refuses an object that has a key twice.
func (n *node) once() error {
	seen := make(map[string]bool, len(n.items))
	for _, it := range n.items {
		if seen[it.key] {
			return fmt.Errorf("%q %w", it.key, ErrTwice)
		}
		seen[it.key] = true
	}
	return nil
}

func (d *Document) decode(n node) (any, error) {
	switch n.kind {
	case kindObject:
		out := make(map[string]any, len(n.items))
		for _, it := range n.items {
			v, err := d.decode(it.value)
			if err != nil {
				return nil, err
			}
			if _, twice := out[it.key]; twice {
				return nil, fmt.Errorf("%q %w", it.key, ErrTwice)
			}
			out[it.key] = v
		}
		return out, nil
	case kindArray:
		out := make([]any, 0, len(n.items))
		for _, it := range n.items {
			v, err := d.decode(it.value)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	}
	dec := json.NewDecoder(bytes.NewReader(d.text[n.start:n.end]))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

// splice puts text in the place of what stands from one byte to another, and reads the whole again. That what comes of it
// is JSON is for the caller to see to: an error here is a fault of this package.
func (d *Document) splice(cuts ...cut) error {
	var out []byte
	at := 0
	for _, c := range cuts {
		out = append(append(out, d.text[at:c.from]...), c.text...)
		at = c.to
	}
	next, err := Parse(append(out, d.text[at:]...))
	if err != nil {
		return fmt.Errorf("jsonedit: an edit went wrong: %w", err)
	}
	*d = *next
	return nil
}

// A cut is one piece of a text, and what comes in its place.
type cut struct {
	from, to int
	text     string
}
