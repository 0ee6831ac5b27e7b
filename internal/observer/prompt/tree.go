package prompt

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

const (
	maxDepth       = 24 // of objects and lists in one JSON text; deeper ones stay as they were written
	maxNestedTexts = 3  // JSON texts inside of strings of JSON texts
)

// node is a value of a JSON text, its members in their order.
type node struct {
	kind byte // '{', '[', '"', or '0' for all else
	text string
	keys []string // of an object, as many as list
	list []node
}

// parseTree reads s as one JSON value that is an object or a list, or a string. It is false for all else.
func parseTree(s string) (node, bool) {
	trimmed := strings.TrimSpace(s)
	if trimmed == "" || strings.IndexByte(`{["`, trimmed[0]) < 0 || !json.Valid([]byte(trimmed)) {
		return node{}, false
	}
	return readTree([]byte(trimmed), 0)
}

// readTree reads a text that is valid JSON. It is false where it is nested too deep.
func readTree(text []byte, depth int) (n node, ok bool) {
	switch n.kind = text[0]; {
	case n.kind == '"':
		return node{kind: '"', text: jsonscan.Text(text)}, true
	case string(text) == "null":
		return node{kind: '0'}, true
	case n.kind != '{' && n.kind != '[':
		return node{kind: '0', text: string(text)}, true
	case depth == maxDepth:
		return node{}, false
	}
	ok = true
	add := func(inner []byte) bool {
		var one node
		one, ok = readTree(inner, depth+1)
		n.list = append(n.list, one)
		return ok
	}
	jsonscan.Elements(text, add)
	jsonscan.Members(text, func(name, inner []byte) bool {
		n.keys = append(n.keys, string(name))
		return add(inner)
	})
	return n, ok
}

// get is the text of the string called key, or "".
func (n *node) get(key string) string {
	for i, k := range n.keys {
		if k == key && n.list[i].kind == '"' {
			return n.list[i].text
		}
	}
	return ""
}

// hasText reports whether there is anything in n but blanks.
func (n *node) hasText() bool {
	if n.kind == '{' || n.kind == '[' {
		for i := range n.list {
			if n.list[i].hasText() {
				return true
			}
		}
		return false
	}
	return strings.TrimSpace(n.text) != ""
}

// image is what is shown of an object that holds an image, by its fields: a type or a media type, and the encoded bytes.
func (n *node) image() (string, bool) {
	kind := n.get("type")
	media := n.get("mimeType") + n.get("mime_type") + n.get("media_type")
	if kind != "image" && kind != "image_url" && kind != "input_image" && !strings.HasPrefix(media, "image/") {
		return "", false
	}
	size := n.blob()
	return fmt.Sprintf(imageForm, size), size > 0
}

// blob is how many bytes the largest encoded string in n stands for; 0 if there is none.
func (n *node) blob() (most int) {
	for i := range n.list {
		v := &n.list[i]
		if v.kind != '"' {
			most = max(most, v.blob())
			continue
		}
		if n.kind == '{' && !isBlobKey(n.keys[i]) {
			continue
		}
		if size, ok := blobSize(v.text); ok {
			most = max(most, size)
		}
	}
	return most
}

// isBlobKey is for the members in which agents and protocols put encoded bytes.
func isBlobKey(key string) bool {
	switch key {
	case "data", "base64", "blob", "url", "image_url", "bytes":
		return true
	}
	return false
}
