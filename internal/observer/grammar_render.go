package observer

import "strings"

// AppendXML appends o to b as Parse reads it, with a line break behind it, and returns b. Fields without text are left
// out. Parse gives o back if o came from Parse with the same types.
func (o Observation) AppendXML(b []byte) []byte {
	if o.Type != UnknownType {
		o.TypeGiven = o.Type
	}
	parts := o.parts()
	return appendBlock(b, wordObservation, parts[:])
}

// AppendXML appends s to b as Parse reads it, with a line break behind it, and returns b. Fields without text are left
// out. Parse gives s back if s came from Parse.
func (s Summary) AppendXML(b []byte) []byte {
	parts := s.parts()
	return appendBlock(b, wordSummary, parts[:])
}

func appendBlock(b []byte, root word, parts []part) []byte {
	b = appendTag(b, "<", root, ">\n")
	for _, p := range parts {
		switch {
		case p.text != nil:
			b = appendField(b, p.word, *p.text)
		case len(*p.list) > 0:
			b = appendTag(b, "<", p.word, ">\n")
			for _, text := range *p.list {
				b = appendField(b, p.item, text)
			}
			b = appendTag(b, "</", p.word, ">\n")
		}
	}
	return appendTag(b, "</", root, ">\n")
}

func appendField(b []byte, w word, text string) []byte {
	if text == "" {
		return b
	}
	b = appendTag(b, "<", w, ">")
	b = append(b, escaper.Replace(text)...)
	return appendTag(b, "</", w, ">\n")
}

func appendTag(b []byte, before string, w word, after string) []byte {
	return append(append(append(b, before...), wordNames[w]...), after...)
}

// escaper makes of a text what plain gives back. A '>' is escaped for the eyes of strict readers.
var escaper = strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;")
