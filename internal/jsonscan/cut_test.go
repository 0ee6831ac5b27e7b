package jsonscan

import (
	"encoding/json"
	"strings"
	"testing"
)

// membersOf are the members of a text that may be cut off, each as NAME=VALUE.
func membersOf(text string) (all []string) {
	CutMembers(text, func(name string, value func() string) bool {
		all = append(all, name+"="+value())
		return true
	})
	return all
}

func elementsOf(text string) (all []string) {
	CutElements(text, func(value string) bool {
		all = append(all, value)
		return true
	})
	return all
}

func TestCutOffAnywhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []string
	}{
		{` { "a" : "b" , "c\u0064":[1,"}",{"e":"\""}], "f": null } x`, []string{`a="b"`, `cd=[1,"}",{"e":"\""}]`, `f=null`}},
		{`{"a":"cut he`, []string{`a="cut he`}},
		{`{"a":{"b":[1,"c`, []string{`a={"b":[1,"c`}},
		{`{"a":12`, []string{`a=12`}},
		{`{"a":`, []string{`a=`}},
		{`{"a":}`, []string{`a=`}},
		{`{"a":1,"b"`, []string{`a=1`}},
		{`{"a":1,"b`, []string{`a=1`}},
		{`{`, nil},
		{`["a"]`, nil},
		{``, nil},
	} {
		if got := membersOf(c.text); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	if got := elementsOf(` [ "a" , {"b":[2]},3 , "cut`); strings.Join(got, "\n") != "\"a\"\n{\"b\":[2]}\n3\n\"cut" {
		t.Errorf("elements: %q", got)
	}
}

// TestUnreadValues: a value that nobody asks for is passed over.
func TestUnreadValues(t *testing.T) {
	t.Parallel()
	read := ""
	CutMembers(`{"a":"b","c":"d"}`, func(name string, value func() string) bool {
		if name == "c" {
			read = value()
		}
		return true
	})
	if read != `"d"` {
		t.Errorf("behind a value that nobody read: %q", read)
	}
}

func TestCutText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value, text string
		whole       bool
	}{
		{`"a\n\u00e9\\"`, "a\né\\", true},
		{`"a\n\u00e9\`, "a\né", false},
		{`"a\n\u00`, "a\n\\u00", false},
		{`"a\\`, `a\`, false},
		{`"a\qb\n"`, "a\\qb\n", true},
		{"\"a\xff\"", "a\uFFFD", true},
		{`12`, "", false},
		{``, "", false},
	} {
		if text, whole := CutText(c.value); text != c.text || whole != c.whole {
			t.Errorf("%s: %q, %t, want %q, %t", c.value, text, whole, c.text, c.whole)
		}
	}
}

// FuzzCut compares what is read of whole texts with encoding/json, and asks of all that each part of a text stands in it.
func FuzzCut(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"\\\""}],"c":null}`, `[1,[2,"3`, `{"a":,,,"b":1}`, `{"a":"b\`, `{"a":"\u12`, "[\"\xff\"]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		total := 0
		CutMembers(text, func(name string, value func() string) bool {
			total += len(value()) + 2
			return strings.Contains(text, value())
		})
		for _, value := range elementsOf(text) {
			total += len(value)
			CutText(value)
		}
		if total > len(text) {
			t.Fatalf("%d bytes out of %d", total, len(text))
		}
		var list []string
		if json.Unmarshal([]byte(text), &list) != nil || list == nil {
			return
		}
		for i, value := range elementsOf(text) {
			if got, whole := CutText(value); value != "null" && (got != list[i] || !whole) {
				t.Errorf("%s: %q, want %q", value, got, list[i])
			}
		}
	})
}
