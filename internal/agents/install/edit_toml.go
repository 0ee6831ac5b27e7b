package install

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/cmemd/cmemd/internal/agents/install/jsonedit"
	"github.com/cmemd/cmemd/internal/tomledit"
)

// tomlEditor keeps one MCP server in a table of its own at the end of a TOML file.
type tomlEditor struct {
	below string          // the table that holds the servers: mcp_servers
	value jsonedit.Object // of strings, []string and one Object of strings
}

func (t tomlEditor) put(text []byte) ([]byte, error) {
	server, err := t.server(text)
	if err != nil {
		return nil, err
	}
	if server != nil && reflect.DeepEqual(server, decoded(t.value)) {
		return text, nil
	}
	if server != nil && !isCmemdServer(server) {
		return nil, fmt.Errorf("%w: %s.%s", ErrForeign, t.below, serverName)
	}
	if text, err = t.strip(text, nil); err != nil {
		return nil, err
	}
	out := tomledit.Append(text, t.lines())
	if _, err := t.server(out); err != nil {
		return nil, fmt.Errorf("a table behind the end would not do: %w", err)
	}
	return out, nil
}

func (t tomlEditor) strip(text, base []byte) ([]byte, error) {
	server, err := t.server(text)
	if err != nil || server == nil || !isCmemdServer(server) {
		return text, err
	}
	from, to := tomledit.Table(text, t.below, serverName)
	if from < 0 {
		return nil, fmt.Errorf("%w: %s.%s is no table of its own", jsonedit.ErrShape, t.below, serverName)
	}
	out := append(append([]byte{}, text[:from]...), text[to:]...)
	if to == len(text) && len(base) > 0 && !bytes.HasSuffix(base, []byte("\n")) { // put ended its last line
		out = bytes.TrimSuffix(bytes.TrimSuffix(out, []byte("\n")), []byte("\r"))
	}
	if left, err := t.server(out); err != nil || left != nil {
		return nil, fmt.Errorf("%w: %s.%s stands in several places", jsonedit.ErrShape, t.below, serverName)
	}
	return out, nil
}

// lines is the table as it is written.
func (t tomlEditor) lines() []string {
	lines := []string{"[" + t.below + "." + serverName + "]"}
	for _, m := range t.value {
		lines = append(lines, m.Key+" = "+tomlValue(m.Value))
	}
	return lines
}

// tomlValue writes a value on one line.
func tomlValue(v any) string {
	var parts []string
	switch v := v.(type) {
	case []string:
		for _, s := range v {
			parts = append(parts, tomlValue(s))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case jsonedit.Object:
		for _, m := range v {
			parts = append(parts, m.Key+" = "+tomlValue(m.Value))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return tomledit.Value(v)
}

// server is cmemd's server in a TOML text, decoded; nil where there is none.
func (t tomlEditor) server(text []byte) (any, error) {
	var all map[string]any
	if err := toml.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &all); err != nil {
		return nil, fmt.Errorf("is not TOML: %w", err)
	}
	servers, _ := all[t.below].(map[string]any)
	server, there := servers[serverName]
	if !there {
		return nil, nil
	}
	return server, nil
}
