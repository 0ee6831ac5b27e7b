package agents

import (
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/harness"
)

// JSON may write "<" and ">" as escapes, and JSON quoted in JSON then keeps them as text. So the fence looks there, in
// lower case and in upper case.
func escapedFences() [][2]string {
	return [][2]string{
		{`u003c` + harness.Memory, `u003c/` + harness.Memory}, {`u003C` + harness.Memory, `u003C/` + harness.Memory},
	}
}

// cutEscapedFences removes from s the fence around memory where its angle brackets are escapes, with what is inside. One
// whose end was cut away takes the rest. Linear time.
func cutEscapedFences(s string) string {
	for _, tags := range escapedFences() {
		s = cutSpans(s, tags[0], `\`, func(after string) int {
			_, rest, _ := strings.Cut(after, tags[1])
			rest = strings.TrimLeft(rest, `\`)
			if len(rest) >= len("u003e") && strings.EqualFold(rest[:len("u003e")], "u003e") {
				rest = rest[len("u003e"):]
			}
			return len(after) - len(rest)
		})
	}
	return s
}

// cutSpans removes from s each span that open begins, with the bytes of lead that stand right before it, up to where endOf says
// of what follows that it ends.
func cutSpans(s, open, lead string, endOf func(after string) int) string {
	var kept strings.Builder
	rest := s
	for {
		before, after, ok := strings.Cut(rest, open)
		if !ok {
			break
		}
		kept.WriteString(strings.TrimRight(before, lead))
		rest = after[endOf(after):]
	}
	if len(rest) == len(s) {
		return s
	}
	kept.WriteString(rest)
	return kept.String()
}

// hasEscapedFence reports whether cutEscapedFences would change s.
func hasEscapedFence(s string) bool {
	return slices.ContainsFunc(escapedFences(), func(tags [2]string) bool { return strings.Contains(s, tags[0]) })
}
