package agents

import "strings"

// JSON may write "<" and ">" as escapes, and JSON quoted in JSON then keeps them as text. So the fence looks there, in
// lower case and in upper case.
func escapedFences() [][2]string {
	return [][2]string{
		{`u003c` + contextTag, `u003c/` + contextTag}, {`u003C` + contextTag, `u003C/` + contextTag},
	}
}

// cutEscapedFences removes from s the fence around memory where its angle brackets are escapes, with what is inside. One
// whose end was cut away takes the rest. Linear time.
func cutEscapedFences(s string) string {
	for _, tags := range escapedFences() {
		s = cutBetween(s, tags[0], tags[1])
	}
	return s
}

func cutBetween(s, open, end string) string {
	var kept strings.Builder
	rest := s
	for {
		before, after, ok := strings.Cut(rest, open)
		if !ok {
			break
		}
		kept.WriteString(strings.TrimRight(before, `\`))
		_, rest, _ = strings.Cut(after, end)
		rest = strings.TrimLeft(rest, `\`)
		if len(rest) >= len("u003e") && strings.EqualFold(rest[:len("u003e")], "u003e") {
			rest = rest[len("u003e"):]
		}
	}
	if kept.Len() == 0 && len(rest) == len(s) {
		return s
	}
	kept.WriteString(rest)
	return kept.String()
}

// hasEscapedFence reports whether cutEscapedFences would change s.
func hasEscapedFence(s string) bool {
	i := strings.Index(s, contextTag)
	if i < 0 {
		return false
	}
	for _, tags := range escapedFences() {
		if strings.Contains(s, tags[0]) {
			return true
		}
	}
	return false
}
