package extractive

import "github.com/cmemd/cmemd/internal/jsonscan"

// field is one member of a JSON object: its value is raw, and cut where the text was cut.
type field struct {
	key, raw string
}

// maxFields bounds the members that are looked at; no tool has as many.
const maxFields = 48

// fields are the members of the JSON object that s begins with. What stands before a cut is read; text that is no
// object has none.
func fields(s string) (all []field) {
	jsonscan.CutMembers(s, func(key string, value func() string) bool {
		all = append(all, field{key, value()})
		return len(all) < maxFields
	})
	return all
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
	text, _ := jsonscan.CutText(s)
	return text
}

// elements are the values of the JSON list that s begins with, at most maxFields.
func elements(s string) (all []string) {
	jsonscan.CutElements(s, func(value string) bool {
		all = append(all, value)
		return len(all) < maxFields
	})
	return all
}
