package jsonedit

import (
	"fmt"
	"strings"
)

// Set makes value the member that path names, from the top; objects that are missing on the way are made. A new member is
// the last of its object. Err is ErrShape if something else than an object stands on the way, or ErrTwice. On an error
// the document is as it was.
func (d *Document) Set(value any, path ...string) {
	if n := d.reach(path, value); n != nil {
		d.splice(cut{n.start, n.end, d.style().render(value, d.lineIndent(n.start))})
	}
}

// Append makes value the last element of the array that path names; what is missing on the way, and the array, is made.
// Errors are those of Set.
func (d *Document) Append(value any, path ...string) {
	n := d.reach(path, []any{value})
	switch {
	case n == nil:
	case n.kind != '[':
		d.err = fmt.Errorf("%s %w: it is no array", strings.Join(path, "."), ErrShape)
	default:
		d.insert(*n, "", value)
	}
}

// Remove takes out what stands at path: a member, or an element of an array. What is not there is no error. An object or
// array of which nothing is left but white space loses that too.
func (d *Document) Remove(path ...any) {
	if len(path) == 0 {
		return
	}
	parent := d.find(path[:len(path)-1])
	if i := d.index(parent, path[len(path)-1]); i >= 0 {
		d.splice(d.cutsWithout(*parent, i)...)
	}
}

// RestoreSpace gives what stands at path the white space that it has in old, where it holds nothing in either. It is for what Remove
// has emptied. Errors are ErrTwice, in d or old. A nil old is one of which nobody knows.
func (d *Document) RestoreSpace(old *Document, path ...any) {
	if old == nil {
		return
	}
	n, was := d.find(path), old.find(path)
	if n != nil && was != nil && d.blank(n) && old.blank(was) && n.kind == was.kind {
		d.splice(cut{n.start, n.end, string(old.text[was.start:was.end])})
	}
}

// blank reports whether n is an object or array with nothing but white space in it.
func (d *Document) blank(n *node) bool {
	return (n.kind == '{' || n.kind == '[') && d.trimmed(n.start+1, n.end-1) == n.start+1
}

// reach returns what stands at path. Where nothing does it makes value that, and returns nil; so it does on an error.
func (d *Document) reach(path []string, value any) *node {
	n := d.find(nil)
	for i, key := range path {
		if n != nil && n.kind != '{' {
			d.err = fmt.Errorf("%s %w: it is no object", strings.Join(path[:i], "."), ErrShape)
		}
		m := d.index(n, key)
		switch {
		case d.err != nil:
			return nil
		case n == nil:
			d.begin(key, nested(path[i+1:], value))
			return nil
		case m < 0:
			d.insert(*n, key, nested(path[i+1:], value))
			return nil
		}
		n = &n.items[m].value
		if d.err = n.once(false); d.err != nil {
			return nil
		}
	}
	return n
}

// begin puts an object into a document without a value, behind its comments.
func (d *Document) begin(key string, value any) {
	st := d.style()
	text := st.render(Object{{key, value}}, "") + st.newline
	if len(d.text) > 0 && d.text[len(d.text)-1] != '\n' && strings.TrimPrefix(string(d.text), byteOrderMark) != "" {
		text = st.newline + text
	}
	d.splice(cut{len(d.text), len(d.text), text})
}

func nested(path []string, value any) any {
	for i := len(path) - 1; i >= 0; i-- {
		value = Object{{path[i], value}}
	}
	return value
}

// insert makes value the last item of the object or array n.
func (d *Document) insert(n node, key string, value any) {
	st := d.style()
	if len(n.items) == 0 {
		d.fill(n, key, value, st)
		return
	}
	last := n.items[len(n.items)-1]
	multi := d.breaks(n.start, n.items[0].start)
	st.compact = st.compact || !multi
	indent, comma := "", ""
	behind := d.trimmed(last.value.end, n.end-1) // where the last thing in n ends, be it a comment
	if multi {
		indent = d.lineIndent(last.start)
	}
	lead := st.gap()
	if multi || d.lineComment(last.value.end, behind) {
		lead = st.newline + indent
	}
	cuts := []cut{}
	if last.comma < 0 {
		cuts = append(cuts, cut{last.value.end, last.value.end, ","})
	} else {
		comma = ","
	}
	d.splice(append(cuts, cut{behind, behind, lead + st.item(key, value, indent) + comma})...)
}

// fill puts the first item into n.
func (d *Document) fill(n node, key string, value any, st style) {
	outer := d.lineIndent(n.start)
	behind := d.trimmed(n.start+1, n.end-1)
	if st.compact && !d.lineComment(n.start+1, behind) {
		d.splice(cut{behind, n.end - 1, st.item(key, value, "")})
		return
	}
	inner := outer + st.unit
	d.splice(cut{behind, n.end - 1, st.newline + inner + st.item(key, value, inner) + st.newline + outer})
}

// cutsWithout is what takes item i out of n.
func (d *Document) cutsWithout(n node, i int) []cut {
	it := n.items[i]
	from, to := d.trimmed(n.start+1, it.start), it.value.end
	if i > 0 {
		from = max(from, n.items[i-1].value.end)
	}
	switch {
	case it.comma >= 0:
		to = it.comma + 1
	case i > 0:
		before := n.items[i-1].comma
		return []cut{{before, before + 1, ""}, {max(d.trimmed(before+1, it.start), before+1), to, ""}}
	}
	if len(n.items) == 1 && d.trimmed(n.start+1, it.start) == n.start+1 && d.trimmed(to, n.end-1) == to {
		return []cut{{n.start + 1, n.end - 1, ""}}
	}
	if !d.breaks(from, it.start) && i == 0 { // on one line: the gap behind it goes, not the one before
		from = it.start
		for to < n.end-1 && (d.text[to] == ' ' || d.text[to] == '\t') {
			to++
		}
	}
	return []cut{{from, to, ""}}
}

// trimmed is where the last byte before to that is not white space ends; from at least.
func (d *Document) trimmed(from, to int) int {
	for to > from && isSpace(d.text[to-1]) {
		to--
	}
	return to
}

// breaks reports whether a line ends between two bytes.
func (d *Document) breaks(from, to int) bool { return strings.Contains(string(d.text[from:to]), "\n") }

// lineComment reports whether a comment that goes on to the end of its line stands last between two bytes. Between them is
// nothing but comments, white space and a comma.
func (d *Document) lineComment(from, to int) bool {
	for at := from; at < to; at++ {
		rest := string(d.text[at:to])
		switch {
		case strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				return true
			}
			at += n
		case strings.HasPrefix(rest, "/*"):
			at += 3 + max(strings.Index(rest[2:], "*/"), 0)
		}
	}
	return false
}

// lineIndent is the white space that the line begins with which at lies in.
func (d *Document) lineIndent(at int) string {
	start := strings.LastIndexByte(string(d.text[:at]), '\n') + 1
	end := start
	for end < at && (d.text[end] == ' ' || d.text[end] == '\t') {
		end++
	}
	return string(d.text[start:end])
}
