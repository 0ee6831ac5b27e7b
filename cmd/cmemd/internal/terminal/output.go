package terminal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/term"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// standardWidth is taken for a terminal that does not say how wide it is.
const standardWidth = 80

// IsTerminal reports whether w is one.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width is how many columns w shows; 0 if it is no terminal.
func Width(w io.Writer) int {
	if !IsTerminal(w) {
		return 0
	}
	n, _, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil || n <= 0 {
		return standardWidth
	}
	return n
}

// List is a table for people. Its cells may hold captured text: they are made harmless where they are printed.
type List struct {
	Head []string
	Rows [][]string
}

func (l *List) Add(cells ...string) { l.Rows = append(l.Rows, cells) }

// Print shows l: coloured and fitted on a terminal, in plain aligned columns elsewhere.
func (a *App) Print(l List) {
	for _, row := range l.Rows {
		for i := range row {
			row[i] = VisibleLine(row[i])
		}
	}
	if columns := Width(a.Out); columns > 0 {
		a.printFitted(l, columns)
		return
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{l.Head}, l.Rows...) {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // text takes all
	for line := range strings.Lines(text.String()) {
		a.Printf("%s\n", strings.TrimRight(line, " \n"))
	}
}

// printFitted shows l on a terminal.
func (a *App) printFitted(l List, columns int) {
	widths := l.widths(columns)
	a.printRow(l.Head, widths, func(int) Style { return Style{Weight: Bold} })
	for _, row := range l.Rows {
		a.printRow(row, widths, func(column int) Style {
			if column == 0 {
				return Style{Colour: Cyan}
			}
			return Style{}
		})
	}
}

func (a *App) printRow(cells []string, widths []int, style func(column int) Style) {
	line := make([]string, len(cells))
	for i, c := range cells {
		line[i] = a.Styled(style(i), fitted(c, widths[i]))
	}
	a.Printf("%s\n", strings.TrimRight(strings.Join(line, strings.Repeat(" ", ColumnGap)), " "))
}

// ColumnGap is the room between two columns of a table on a terminal.
const ColumnGap = 2

// widths is how wide the columns of l are where they share total: as wide as what they hold, but for the widest, which give
// room. The first holds what names a row, so it keeps its width, and none is narrower than its heading. Where even that is
// too wide, the table is.
func (l List) widths(total int) []int {
	widths := make([]int, len(l.Head))
	room := total + ColumnGap // the last has none
	for i, head := range l.Head {
		widths[i] = uniseg.StringWidth(head)
		for _, row := range l.Rows {
			widths[i] = max(widths[i], uniseg.StringWidth(row[i]))
		}
		room -= widths[i] + ColumnGap
	}
	for ; room < 0; room++ {
		widest := 0
		for i := 1; i < len(widths); i++ {
			if widths[i] > uniseg.StringWidth(l.Head[i]) && (widest == 0 || widths[i] >= widths[widest]) {
				widest = i
			}
		}
		if widest == 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

// Heading shows a line that stands above others, bold on a terminal.
func (a *App) Heading(format string, args ...any) {
	a.Printf("%s\n", a.Styled(Style{Weight: Bold}, fmt.Sprintf(format, args...)))
}

// Field shows one named value, or nothing if it is empty. A text of several lines is indented below its name.
func (a *App) Field(name, value string) {
	value = strings.TrimRight(Visible(value), "\n ")
	switch {
	case value == "":
	case strings.Contains(value, "\n"):
		a.Printf("%s\n  %s\n", name, strings.ReplaceAll(value, "\n", "\n  "))
	default:
		a.Printf("%-12s  %s\n", name, value)
	}
}

// PrintJSON writes v as one JSON document. Characters that could deceive a terminal are written as escapes.
func (a *App) PrintJSON(v any) error { return a.printJSON(v, "  ") }

// PrintJSONLine is PrintJSON on one line, for what comes one by one.
func (a *App) PrintJSONLine(v any) error { return a.printJSON(v, "") }

func (a *App) printJSON(v any, indent string) error {
	b, err := Marshal(v, indent)
	if err != nil {
		return err
	}
	_, err = a.Out.Write(b)
	return err
}

// ShowLine prints an answer that is one line for people: as JSON where that is wanted, else as format has it.
func (a *App) ShowLine(answer any, format string, args ...any) error {
	if a.JSON {
		return a.PrintJSON(answer)
	}
	a.Printf(format, args...)
	return nil
}

// Show prints an answer as JSON where that is wanted, else as words does.
func (a *App) Show(answer any, words func()) error {
	if a.JSON {
		return a.PrintJSON(answer)
	}
	words()
	return nil
}

// Report is Show for an answer that may be none: words says so by an error, which JSON has said already.
func (a *App) Report(answer any, words func(a *App) error) error {
	if !a.JSON {
		return words(a)
	}
	if err := a.PrintJSON(answer); err != nil {
		return err
	}
	mute := *a
	mute.Out = io.Discard
	return a.MarkReported(words(&mute))
}

func Marshal(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return EscapeJSON(b.Bytes()), nil
}

// EscapeJSON writes the characters of a JSON text that deceive a terminal as escapes. It means the same afterwards,
// because such characters stand nowhere but in strings.
func EscapeJSON(b []byte) []byte {
	deceivesBeyondASCII := func(r rune) bool { return r >= 0x7f && deceives(r) }
	if bytes.IndexFunc(b, deceivesBeyondASCII) < 0 {
		return b
	}
	out := make([]byte, 0, len(b)+64)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case !deceivesBeyondASCII(r):
			out = append(out, b[:n]...)
		case r <= 0xffff:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
		b = b[n:]
	}
	return out
}

// Shortened is the beginning of s where that has more than most runes, which end with an ellipsis then.
func Shortened(s string, most int) string {
	if all := []rune(s); len(all) > most {
		return string(all[:most-1]) + "…"
	}
	return s
}

// Moment is a time for people: local, to the minute; empty for none.
func Moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// ShownSession is the id of a session as lists show it: whole where a program may read it, its beginning on a terminal.
func (a *App) ShownSession(id events.SessionID) string {
	if IsTerminal(a.Out) {
		return id.String()[:13] // it is a hash: 12 digits tell more sessions apart than a log holds
	}
	return id.String()
}

// ShownID is an id as lists show it: whole where a program may read it, its unique beginning on a terminal.
func (a *App) ShownID(id events.ID) string {
	if IsTerminal(a.Out) {
		return id.String()[:18] // the millisecond, and what tells ids of one millisecond apart
	}
	return id.String()
}

// ShownRow is a row as lists name it: by its whole id where a program may read it, by its handle on a terminal.
func (a *App) ShownRow(id events.ID, h rows.Handle) string {
	if IsTerminal(a.Out) && h != (rows.Handle{}) {
		return h.String()
	}
	return id.String()
}

// Size is a number of bytes for people.
func Size(n int64) string {
	value, unit := float64(n), ""
	for _, u := range []string{"kB", "MB", "GB", "TB"} {
		if value < 1000 {
			break
		}
		value, unit = value/1000, u
	}
	if unit == "" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}

// MostFirst lists what is counted, the most frequent first.
func MostFirst[K cmp.Ordered](counts map[K]int) []K {
	return slices.SortedFunc(maps.Keys(counts), func(x, y K) int {
		return cmp.Or(cmp.Compare(counts[y], counts[x]), cmp.Compare(x, y))
	})
}
