package jsonedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// An Object is a JSON object whose members keep their order.
type Object []Member

// A Member is one of an Object. Value is a string, bool, int, []any, []string or Object.
type Member struct {
	Key   string
	Value any
}

// MarshalJSON writes the members in their order.
func (o Object) MarshalJSON() ([]byte, error) {
	return []byte(style{compact: true, colon: ":", comma: ","}.render(o, "")), nil
}

// A style is how a text writes what is new in it.
type style struct {
	newline, unit string
	colon, comma  string // with the space behind them, on one line
	compact       bool   // all on one line
}

// style tells the document's own from its first member.
func (d *Document) style() style {
	st := style{newline: "\n", unit: "  ", colon: ": ", comma: ", "}
	if bytes.Contains(d.text, []byte("\r\n")) {
		st.newline = "\r\n"
	}
	if d.root == nil || len(d.root.items) == 0 {
		return st
	}
	first := d.root.items[0]
	if d.text[first.value.start-1] == ':' {
		st.colon, st.comma = ":", ","
	}
	if !d.breaks(d.root.start, first.start) {
		st.compact = true
		return st
	}
	if unit := strings.TrimPrefix(d.lineIndent(first.start), d.lineIndent(d.root.start)); unit != "" {
		st.unit = unit
	}
	return st
}

// gap is what stands between two items on one line.
func (s style) gap() string { return strings.TrimPrefix(s.comma, ",") }

// item writes a member, or an element where key is empty.
func (s style) item(key string, value any, indent string) string {
	if key == "" {
		return s.render(value, indent)
	}
	return quote(key) + s.colon + s.render(value, indent)
}

// render writes a value whose line begins with indent.
func (s style) render(value any, indent string) string {
	var parts []string
	opening, closing := "[", "]"
	inner := indent + s.unit
	switch v := value.(type) {
	case Object:
		opening, closing = "{", "}"
		for _, m := range v {
			parts = append(parts, s.item(m.Key, m.Value, inner))
		}
	case []any:
		for _, e := range v {
			parts = append(parts, s.render(e, inner))
		}
	case []string:
		for _, e := range v {
			parts = append(parts, quote(e))
		}
		return "[" + strings.Join(parts, s.comma) + "]"
	default:
		return quote(v)
	}
	if s.compact || len(parts) == 0 {
		return opening + strings.Join(parts, s.comma) + closing
	}
	return opening + s.newline + inner + strings.Join(parts, ","+s.newline+inner) + s.newline + indent + closing
}

// quote writes a string, number or bool, without the escapes that only pages of the web need.
func quote(v any) string {
	switch v.(type) {
	case string, int, bool:
	default:
		panic(fmt.Sprintf("jsonedit: %T is no value that is written", v))
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // these always can be
	return strings.TrimSuffix(out.String(), "\n")
}
