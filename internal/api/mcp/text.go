package mcp

import (
	"cmp"
	"strings"
	"time"
	"unicode"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/fence"
)

const (
	maxTitle = 140 // characters of a title in a list
	maxWords = 80  // characters of what a caller gave, where it is repeated
)

// ellipsis stands where text was cut.
const ellipsis = "…"

// oneLine is captured text on one line of at most limit characters, fit to stand inside the fence.
func oneLine(s string, limit int) string {
	var b strings.Builder
	space, n := false, 0
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case fence.Invisible(r):
			continue
		}
		if n++; n > limit {
			return harmless(b.String()) + ellipsis
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return harmless(b.String())
}

// block is captured text with its line ends, fit to stand inside the fence.
func block(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u2028' || r == '\u2029':
			return '\n'
		case fence.Invisible(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return harmless(strings.TrimSpace(s))
}

// harmless is s, fit to stand inside the fence.
func harmless(s string) string { return fence.Neutral(s, strings.Trim(agents.ContextOpen, "<>")) }

// quoted is what a caller gave, as it may stand in our own words.
func quoted(s string) string { return `"` + strings.ReplaceAll(oneLine(s, maxWords), `"`, "'") + `"` }

// handleOf is how a row is named: by its handle; by its id where it has none any more.
func handleOf(id events.ID, h api.Handle) string { return cmp.Or(h.String(), id.String()) }

// moment is a time as lists show it; timeOf reads it.
func moment(t time.Time) string {
	if t.IsZero() {
		return "?"
	}
	return t.UTC().Format("2006-01-02T15:04Z")
}
