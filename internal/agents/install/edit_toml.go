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

// tomlTable is the table of Codex's settings that holds its MCP servers.
const tomlTable = "mcp_servers"

// tomlEditor keeps one MCP server in a table of its own at the end of a TOML file.
type tomlEditor struct {
	value jsonedit.Object // of strings, []string and one Object of strings
}

func (t tomlEditor) put(text []byte) ([]byte, error) {
	server, err := tomlServer(text)
	if err != nil {
		return nil, err
	}
	if server != nil && reflect.DeepEqual(server, plain(t.value)) {
		return text, nil
	}
	if server != nil && !ownServer(server) {
		return nil, fmt.Errorf("%w: %s.%s is something else", ErrForeign, tomlTable, serverName)
	}
	if text, err = t.take(text, nil); err != nil {
		return nil, err
	}
	out := tomledit.Append(text, t.lines())
	if _, err := tomlServer(out); err != nil {
		return nil, fmt.Errorf("a table behind the end would not do: %w", err)
	}
	return out, nil
}

func (t tomlEditor) take(text, base []byte) ([]byte, error) {
	server, err := tomlServer(text)
	if err != nil || server == nil || !ownServer(server) {
		return text, err
	}
	from, to := tomledit.Table(text, tomlTable, serverName)
	if from < 0 {
		return nil, fmt.Errorf("%w: %s.%s is no table of its own", jsonedit.ErrShape, tomlTable, serverName)
	}
	out := append(append([]byte{}, text[:from]...), text[to:]...)
	if to == len(text) && len(base) > 0 && !bytes.HasSuffix(base, []byte("\n")) { // put ended its last line
		out = bytes.TrimSuffix(bytes.TrimSuffix(out, []byte("\n")), []byte("\r"))
	}
	if left, err := tomlServer(out); err != nil || left != nil {
		return nil, fmt.Errorf("%w: %s.%s stands in several places", jsonedit.ErrShape, tomlTable, serverName)
	}
	return out, nil
}

// lines is the table as it is written.
func (t tomlEditor) lines() []string {
	lines := []string{"[" + tomlTable + "." + serverName + "]"}
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

// tomlServer is cmemd's server in a TOML text, decoded; nil where there is none.
func tomlServer(text []byte) (any, error) {
	var all map[string]any
	if err := toml.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &all); err != nil {
		return nil, fmt.Errorf("is not TOML: %w", err)
	}
	servers, _ := all[tomlTable].(map[string]any)
	server, there := servers[serverName]
	if !there {
		return nil, nil
	}
	return server, nil
}
