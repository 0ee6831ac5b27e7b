package prompt

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
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
	dec := json.NewDecoder(strings.NewReader(trimmed))
	dec.UseNumber()
	n, err := readTree(dec, 0)
	return n, err == nil
}

var errDeep = errors.New("prompt: nested too deep")

func readTree(dec *json.Decoder, depth int) (node, error) {
	token, err := dec.Token()
	if err != nil {
		return node{}, err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return scalar(token), nil
	}
	if depth == maxDepth {
		return node{}, errDeep
	}
	n := node{kind: byte(delim)}
	for dec.More() {
		if n.kind == '{' {
			key, err := dec.Token()
			if err != nil {
				return node{}, err
			}
			name, _ := key.(string)
			n.keys = append(n.keys, name)
		}
		inner, err := readTree(dec, depth+1)
		if err != nil {
			return node{}, err
		}
		n.list = append(n.list, inner)
	}
	_, err = dec.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func scalar(token json.Token) node {
	if s, ok := token.(string); ok {
		return node{kind: '"', text: s}
	}
	if token == nil {
		return node{kind: '0', text: ""}
	}
	return node{kind: '0', text: fmt.Sprint(token)}
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
