package jsonedit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

var (
	// ErrSyntax is wrapped by the error of what is not JSON, with the line where that shows.
	ErrSyntax = errors.New("is not JSON")

	// ErrTwice is that of an object that has a key twice.
	ErrTwice = errors.New("stands there twice")

	// ErrShape is that of a path on which something other than an object or array stands.
	ErrShape = errors.New("has another shape")
)

// A node is a value in a text: where it stands, and what stands in it.
type node struct {
	kind       byte   // its first byte: { and [ have items
	start, end int    // of the value
	items      []item // of an object or array
}

// An item is a member of an object or an element of an array.
type item struct {
	key   string // of a member
	start int    // of the member's key, or of the element
	value node
	comma int // where the comma behind it stands; -1: there is none
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// plainText is text with blanks for comments and a byte order mark, and strict is that without commas behind last elements.
// Each byte of both stands where it stands in text.
func plainText(text []byte) (plain, strict []byte) {
	plain, strict = bytes.Clone(text), bytes.Clone(text)
	comma, before, last := 0, byte('{'), byte('{') // the last comma, what stood before it, and what stood last
	if bytes.HasPrefix(text, []byte(byteOrderMark)) {
		blank(plain[:len(byteOrderMark)], strict[:len(byteOrderMark)])
	}
	for at, n := 0, 0; at < len(text); at += n {
		rest := plain[at:]
		if n = triviaEnd(rest); n > 0 {
			blank(plain[at:at+n], strict[at:at+n])
			continue
		}
		n = 1
		switch rest[0] {
		case '"':
			n = cmp.Or(jsonscan.StringEnd(rest), len(rest))
		case ',':
			comma, before = at, last
		case '}', ']':
			if last == ',' && before != '{' && before != '[' {
				strict[comma] = ' '
			}
		}
		last = rest[0]
	}
	return plain, strict
}

// triviaEnd is the length of what begins text and says nothing to a program: white space, a comment.
func triviaEnd(text []byte) int {
	switch {
	case isSpace(text[0]):
		return 1
	case bytes.HasPrefix(text, []byte("//")):
		line, _, _ := bytes.Cut(text, []byte("\n"))
		return len(line)
	case bytes.HasPrefix(text, []byte("/*")):
		if n := bytes.Index(text[2:], []byte("*/")); n >= 0 {
			return n + len("/**/")
		}
	}
	return 0
}

// blank makes blanks of all but white space.
func blank(texts ...[]byte) {
	for _, text := range texts {
		for i, b := range text {
			if !isSpace(b) {
				text[i] = ' '
			}
		}
	}
}

// checkStrict returns an ErrSyntax unless strict is one JSON value in UTF-8.
func checkStrict(strict []byte) error {
	var raw json.RawMessage
	err, at := json.Unmarshal(strict, &raw), 0
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		err, at = inPlainWords(syntax), int(syntax.Offset)-1
	case !utf8.Valid(strict):
		err, at = errors.New("a string is broken"), bytes.IndexRune(strict, utf8.RuneError)
	default:
		return err
	}
	line := 1 + bytes.Count(strict[:max(at, 0)], []byte("\n"))
	return fmt.Errorf("line %d %w: %w", line, ErrSyntax, err)
}

// inPlainWords is what encoding/json complains about, with words of our own for what is mistyped most.
func inPlainWords(err *json.SyntaxError) error {
	switch text := err.Error(); {
	case strings.HasSuffix(text, "after object key:value pair"):
		return errors.New("a comma or } is missing")
	case strings.HasSuffix(text, "after array element"):
		return errors.New("a comma or ] is missing")
	}
	return err
}

// nodeAt reads the value that begins at a byte of plain, which is JSON but for commas behind last elements.
func nodeAt(plain []byte, at int) node {
	n := node{kind: plain[at], start: at}
	if n.kind != '{' && n.kind != '[' {
		n.end = at + jsonscan.ValueEnd(plain[at:])
		return n
	}
	for at = jsonscan.Space(plain, at+1); plain[at] != n.kind+2; at = jsonscan.Space(plain, at) { // } is { + 2, and ] is [ + 2
		if plain[at] == ',' {
			n.items[len(n.items)-1].comma = at
			at++
			continue
		}
		it := item{start: at, comma: -1}
		if n.kind == '{' {
			end := at + jsonscan.StringEnd(plain[at:])
			it.key = jsonscan.Text(plain[at:end])
			at = jsonscan.Space(plain, jsonscan.Space(plain, end)+1)
		}
		it.value = nodeAt(plain, at)
		n.items, at = append(n.items, it), it.value.end
	}
	n.end = at + 1
	return n
}
