package report

import (
	"bufio"
	"fmt"
	"html"
)

// markup writes HTML. It is no html/template: a program that calls that one, or text/template, keeps every exported method of every type it
// links, because a template may call any of them by name, and is a quarter larger.
type markup struct{ out *bufio.Writer }

// put writes a format of this package. What fills it is escaped for text and for attributes in quotes, whatever it is: no text of a log
// can become markup. The verbs are all %v; an error stays with the writer, which says it when it is flushed.
func (m markup) put(format string, fill ...any) {
	for i, value := range fill {
		fill[i] = html.EscapeString(fmt.Sprint(value))
	}
	_, _ = fmt.Fprintf(m.out, format, fill...)
}

// raw writes a style sheet of this package as it stands.
func (m markup) raw(css string) { _, _ = m.out.WriteString(css) }

// when writes a format only where it applies.
func (m markup) when(applies bool, format string, fill ...any) {
	if applies {
		m.put(format, fill...)
	}
}

// list writes names with commas between them.
func (m markup) list(names []string) {
	for i, name := range names {
		m.when(i > 0, ", ")
		m.put("%v", name)
	}
}
