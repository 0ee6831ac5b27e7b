package observer

import "strings"

// AppendXML appends o to b as Parse reads it, with a line break behind it, and returns b. Fields without text are left
// out. Parse gives o back if o came from Parse with the same types.
func (o Observation) AppendXML(b []byte) []byte {
	b = append(b, "<observation>\n"...)
	if o.Type == UnknownType {
		b = appendField(b, "type", o.TypeGiven)
	} else {
		b = appendField(b, "type", o.Type)
	}
	b = appendField(b, "title", o.Title)
	b = appendField(b, "subtitle", o.Subtitle)
	b = appendField(b, "narrative", o.Narrative)
	b = appendList(b, "facts", "fact", o.Facts)
	b = appendList(b, "concepts", "concept", o.Concepts)
	b = appendList(b, "files_read", "file", o.FilesRead)
	b = appendList(b, "files_modified", "file", o.FilesModified)
	return append(b, "</observation>\n"...)
}

// AppendXML appends s to b as Parse reads it, with a line break behind it, and returns b. Fields without text are left
// out. Parse gives s back if s came from Parse.
func (s Summary) AppendXML(b []byte) []byte {
	b = append(b, "<summary>\n"...)
	b = appendField(b, "request", s.Request)
	b = appendField(b, "investigated", s.Investigated)
	b = appendField(b, "learned", s.Learned)
	b = appendField(b, "completed", s.Completed)
	b = appendField(b, "next_steps", s.NextSteps)
	b = appendField(b, "notes", s.Notes)
	return append(b, "</summary>\n"...)
}

func appendField(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	b = append(append(append(b, '<'), name...), '>')
	b = appendEscaped(b, text)
	return append(append(append(b, "</"...), name...), ">\n"...)
}

func appendList(b []byte, name, item string, texts []string) []byte {
	if len(texts) == 0 {
		return b
	}
	b = append(append(append(b, '<'), name...), ">\n"...)
	for _, text := range texts {
		b = appendField(b, item, text)
	}
	return append(append(append(b, "</"...), name...), ">\n"...)
}

// appendEscaped appends text so that plain gives it back. A '>' is escaped for the eyes of strict readers.
func appendEscaped(b []byte, text string) []byte {
	for {
		n := strings.IndexAny(text, "<>&")
		if n < 0 {
			return append(b, text...)
		}
		b = append(b, text[:n]...)
		switch text[n] {
		case '<':
			b = append(b, "&lt;"...)
		case '>':
			b = append(b, "&gt;"...)
		case '&':
			b = append(b, "&amp;"...)
		}
		text = text[n+1:]
	}
}
