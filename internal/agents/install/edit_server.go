package install

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"github.com/cmemd/cmemd/internal/agents/install/jsonedit"
)

// serverName is what cmemd is called among an agent's MCP servers.
const serverName = "cmemd"

// serverEditor keeps one MCP server in an object of servers.
type serverEditor struct {
	below string // the member that holds the servers: mcpServers
	value jsonedit.Object
}

func (s serverEditor) put(text []byte) ([]byte, error) {
	d := jsonedit.Parse(text)
	switch now, there := d.Get(s.below, serverName); {
	case there && reflect.DeepEqual(now, decoded(s.value)):
		return text, nil
	case there && !isCmemdServer(now):
		return nil, fmt.Errorf("%w: %s.%s", ErrForeign, s.below, serverName)
	}
	d.Set(s.value, s.below, serverName)
	return d.Bytes()
}

func (s serverEditor) strip(text, base []byte) ([]byte, error) {
	d := jsonedit.Parse(text)
	if now, _ := d.Get(s.below, serverName); !isCmemdServer(now) {
		return text, d.Err()
	}
	old := parseBase(base)
	d.Remove(s.below, serverName)
	prune(d, old, s.below)
	d.RestoreSpace(old)
	return edited(d, old)
}

// editors work on one file one after the other; the last works first when they take out.
type editors []editor

func (es editors) put(text []byte) (_ []byte, err error) {
	for _, e := range es {
		if text, err = e.put(text); err != nil {
			return nil, err
		}
	}
	return text, nil
}

func (es editors) strip(text, base []byte) (_ []byte, err error) {
	for i := len(es) - 1; i >= 0; i-- {
		if text, err = es[i].strip(text, base); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// stripEditor only takes out: what another way of installing, or a person, put there.
type stripEditor struct{ editor }

func (t stripEditor) put(text []byte) ([]byte, error) {
	if text == nil {
		return nil, nil
	}
	return t.strip(text, nil)
}

// wholeEditor keeps a file that is all cmemd's.
type wholeEditor struct{ text []byte }

func (w wholeEditor) put([]byte) ([]byte, error) { return w.text, nil }

// strip returns what base has. Where nobody knows that, a file that begins as cmemd's own does goes, and another one stays.
func (w wholeEditor) strip(text, base []byte) ([]byte, error) {
	first, _, _ := bytes.Cut(w.text, []byte("\n"))
	switch {
	case base == nil && !bytes.HasPrefix(text, first):
		return text, nil
	case len(base) == 0:
		return nil, nil
	}
	return base, nil
}

// isBlank reports whether a JSON text holds nothing that anybody wrote: no member and no comment.
func isBlank(text []byte) bool {
	s := strings.Join(strings.Fields(strings.TrimPrefix(string(text), "\ufeff")), "")
	return s == "" || s == "{}"
}
