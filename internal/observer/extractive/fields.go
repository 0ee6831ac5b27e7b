package extractive

import (
	"encoding/json"
	"strings"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

// field is one member of a JSON object: its value is raw, and cut where the text was cut.
type field struct {
	key, raw string
}

// maxFields bounds the members that are looked at; no tool has as many.
const maxFields = 48

// fields are the members of the JSON object that s begins with. What stands before a cut is read; text that is no
// object has none. Package jsonscan reads whole texts; here what stands before a cut counts as well.
func fields(s string) []field {
	s = strings.TrimLeft(s, " \t\r\n")
	if !strings.HasPrefix(s, "{") {
		return nil
	}
	var all []field
	for s = s[1:]; len(all) < maxFields; {
		s = strings.TrimLeft(s, " \t\r\n,")
		if !strings.HasPrefix(s, `"`) {
			return all
		}
		end := stringEnd(s)
		key := s[1:max(1, end-1)]
		s = strings.TrimLeft(s[end:], " \t\r\n")
		if !strings.HasPrefix(s, ":") {
			return all
		}
		s = strings.TrimLeft(s[1:], " \t\r\n")
		end = valueEnd(s)
		all = append(all, field{key: key, raw: s[:end]})
		s = s[end:]
	}
	return all
}

// stringEnd is behind the closing quote of the JSON string that begins s, or its end.
func stringEnd(s string) int {
	if n := jsonscan.StringEnd(s); n > 0 {
		return n
	}
	return len(s)
}

// valueEnd is behind the JSON value that begins s, or its end.
func valueEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); {
		n := strings.IndexAny(s[i:], `"{}[],`)
		if n < 0 {
			break
		}
		i += n
		switch s[i] {
		case '"':
			i += stringEnd(s[i:])
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case ',':
			if depth == 0 {
				return i
			}
		default:
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(s)
}

// raw is the value of the first of keys that is there, as written.
func raw(all []field, keys ...string) string {
	for _, k := range keys {
		for _, f := range all {
			if f.key == k {
				return f.raw
			}
		}
	}
	return ""
}

// text is the first value among keys that is a string with something in it.
func text(all []field, keys ...string) string {
	for _, k := range keys {
		if s := unquote(raw(all, k)); s != "" {
			return s
		}
	}
	return ""
}

// unquote is the text of a JSON string, cut or not; "" for other values.
func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' {
		return ""
	}
	if s[len(s)-1] != '"' || stringEnd(s) != len(s) {
		s = strings.TrimRight(s, `\`) + `"`
	}
	if strings.IndexByte(s, '\\') < 0 {
		return s[1 : len(s)-1]
	}
	var out string
	if json.Unmarshal([]byte(s), &out) != nil {
		return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`).Replace(s[1 : len(s)-1])
	}
	return out
}

// elements are the values of the JSON list that s begins with, at most maxFields.
func elements(s string) []string {
	s = strings.TrimLeft(s, " \t\r\n")
	if !strings.HasPrefix(s, "[") {
		return nil
	}
	var all []string
	for s = s[1:]; len(all) < maxFields; {
		s = strings.TrimLeft(s, " \t\r\n,")
		if s == "" || s[0] == ']' {
			break
		}
		end := valueEnd(s)
		if end == 0 {
			break
		}
		all = append(all, s[:end])
		s = s[end:]
	}
	return all
}
