package prompt

import "strings"

// readable is a captured text as a person would read it, cleaned. JSON is shown as lines of "key: value", texts in it as
// they are, without escapes; JSON inside of a string as JSON; members that say nothing are left out. JSON that was cut is
// shown without its escapes, and what is no JSON as it is.
func readable(s string) string {
	n, ok := parseTree(s)
	if !ok {
		return clean(unescaped(s))
	}
	var f flattener
	f.whole(&n, 0)
	return strings.TrimRight(f.b.String(), "\n")
}

// flattener is a text that grows line by line.
type flattener struct {
	b     strings.Builder
	nests int // how many JSON texts stand around what is written
}

// whole writes a value that stands for itself. An object in which one text says everything is that text.
func (f *flattener) whole(n *node, indent int) {
	if n.kind == '"' {
		if inner, ok := f.nested(n.text); ok {
			f.nests++
			f.whole(&inner, indent)
			f.nests--
			return
		}
		f.block(clean(n.text), indent, "")
		return
	}
	if n.kind == '0' {
		f.block(n.text, indent, "")
		return
	}
	if n.kind == '{' {
		if shown, ok := n.image(); ok {
			f.block(shown, indent, "")
			return
		}
		if only := n.only(); only != nil {
			f.whole(only, indent)
			return
		}
	}
	f.members(n, indent)
}

// nested is the JSON text that a string holds.
func (f *flattener) nested(s string) (node, bool) {
	if trimmed := strings.TrimSpace(s); f.nests == maxNestedTexts || trimmed == "" || trimmed[0] != '{' && trimmed[0] != '[' {
		return node{}, false
	}
	return parseTree(s)
}

// members writes what is in an object or a list: of an object first what is short, so that it is not lost between texts.
func (f *flattener) members(n *node, indent int) {
	var long []int
	for i := range n.list {
		v := &n.list[i]
		switch {
		case n.kind == '{' && (n.silent(i) || !v.hasText()), v.kind != '"' && !v.hasText():
		case n.kind == '{' && f.takesOwnLines(v):
			long = append(long, i)
		case n.kind == '{':
			f.member(n.keys[i], v, indent)
		case v.kind == '"' || v.kind == '0':
			f.whole(v, indent)
		default:
			f.item(v, indent)
		}
	}
	for _, i := range long {
		f.block("", indent, cleanKey(n.keys[i])+":")
		f.whole(&n.list[i], 0)
	}
}

// takesOwnLines reports whether v is a text that takes lines of its own.
func (f *flattener) takesOwnLines(v *node) bool {
	if v.kind != '"' {
		return false
	}
	_, ok := f.nested(v.text)
	return ok || strings.Contains(clean(v.text), "\n")
}

// member writes one member of an object that is no long text.
func (f *flattener) member(key string, v *node, indent int) {
	switch v.kind {
	case '0':
		f.block(v.text, indent, cleanKey(key)+": ")
	case '"':
		f.block(clean(v.text), indent, cleanKey(key)+": ")
	default:
		f.block("", indent, cleanKey(key)+":")
		f.whole(v, indent+2)
	}
}

func cleanKey(key string) string { return strings.Join(strings.Fields(clean(key)), " ") }

// item writes an object or a list that is an item of a list.
func (f *flattener) item(v *node, indent int) {
	var inner flattener
	inner.nests = f.nests
	inner.whole(v, indent+2)
	text := inner.b.String()
	if cut := min(indent, len(text)); strings.HasPrefix(text[cut:], "  ") {
		text = text[:cut] + "- " + text[cut+2:]
	}
	f.b.WriteString(text)
}

// block writes a text behind a lead. Only its first line is indented: what follows is as it was.
func (f *flattener) block(text string, indent int, lead string) {
	f.b.WriteString(strings.Repeat(" ", indent))
	f.b.WriteString(lead)
	f.b.WriteString(text)
	if !strings.HasSuffix(text, "\n") || text == "" {
		f.b.WriteByte('\n')
	}
}

// silent reports whether the ith member of an object says nothing that anybody would ask for: flags of a client that are
// off, and the word that a text is text.
func (n *node) silent(i int) bool {
	switch n.keys[i] {
	case "interrupted", "isImage", "noOutputExpected", "userModified", "replaceAll", "replace_all":
		return n.list[i].text == "false"
	case "type":
		return n.list[i].text == "text"
	}
	return false
}

// only is the one member of an object that says anything, if it is what the object is for.
func (n *node) only() (one *node) {
	name := ""
	for i := range n.list {
		if n.silent(i) || !n.list[i].hasText() {
			continue
		}
		if one != nil {
			return nil
		}
		one, name = &n.list[i], n.keys[i]
	}
	switch name {
	case "stdout", "output", "result", "content", "text", "llmContent", "command":
		return one
	}
	return nil
}

// unescaped is a text that begins like JSON and is none, without the escapes of quotes, line ends and tabs.
func unescaped(s string) string {
	if trimmed := strings.TrimSpace(s); trimmed == "" || strings.IndexByte("{[\"", trimmed[0]) < 0 {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\t`, "\t", `\r`, "").Replace(s)
}
