package terminal

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/rivo/uniseg"
)

// A Style is how text stands out on a terminal. Its fields are parameters of the SGR sequence of ECMA-48; 0 is the terminal's own.
type Style struct{ Weight, Colour int }

// What stands in a Style.
const (
	Bold  = 1
	Faint = 2

	Red     = 31
	Green   = 32
	Yellow  = 33
	Blue    = 34
	Magenta = 35
	Cyan    = 36
)

// Styled is text as standard output shows it in style s: as it is where that is no terminal, or one that knows no styles, and without
// its colour where NO_COLOR is set.
func (a *App) Styled(s Style, text string) string {
	known := a.Getenv("TERM")
	if !IsTerminal(a.Out) || known == "dumb" || known == "" && runtime.GOOS != "windows" || text == "" {
		return text
	}
	var sgr []string
	for _, n := range []int{s.Weight, s.Colour} {
		if n != 0 && (n < Red || a.Getenv("NO_COLOR") == "") {
			sgr = append(sgr, fmt.Sprint(n))
		}
	}
	if len(sgr) == 0 {
		return text
	}
	return "\x1b[" + strings.Join(sgr, ";") + "m" + text + "\x1b[0m"
}

// fitted is s as wide as width says: filled up with blanks, or cut, which an ellipsis tells.
func fitted(s string, width int) string {
	if room := width - uniseg.StringWidth(s); room >= 0 {
		return s + strings.Repeat(" ", room)
	}
	var kept strings.Builder
	used, state := 0, -1
	for s != "" {
		var cluster string
		var wide int
		cluster, s, wide, state = uniseg.FirstGraphemeClusterInString(s, state)
		if used+wide > width-1 {
			break
		}
		kept.WriteString(cluster)
		used += wide
	}
	return kept.String() + "…" + strings.Repeat(" ", max(width-1-used, 0))
}
