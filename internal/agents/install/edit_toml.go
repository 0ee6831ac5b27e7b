package install

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/cmemd/cmemd/internal/agents/install/jsonedit"
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
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	out := string(text)
	if body := strings.TrimPrefix(out, "\ufeff"); body != "" {
		if !strings.HasSuffix(body, "\n") {
			out += newline
		}
		out += newline
	}
	out += strings.Join(t.lines(), newline) + newline
	if _, err := tomlServer([]byte(out)); err != nil {
		return nil, fmt.Errorf("a table behind the end would not do: %w", err)
	}
	return []byte(out), nil
}

func (t tomlEditor) take(text, base []byte) ([]byte, error) {
	server, err := tomlServer(text)
	if err != nil || server == nil || !ownServer(server) {
		return text, err
	}
	from, to := tomlBlock(text)
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
	line, err := toml.Marshal(map[string]any{"v": v})
	if err != nil {
		panic(fmt.Sprintf("install: %v cannot be written: %v", v, err)) // strings can be
	}
	return strings.TrimSpace(strings.TrimPrefix(string(line), "v ="))
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

// tomlBlock is where cmemd's tables stand, with the blank line before them; below 0 where they are no tables, or not beside
// one another.
func tomlBlock(text []byte) (from, to int) {
	body := bytes.TrimPrefix(text, []byte("\ufeff"))
	skipped := len(text) - len(body)
	p := unstable.Parser{}
	p.Reset(body)
	from, own := -1, false
	for p.NextExpression() {
		x := p.Expression()
		keys, end := tomlKey(x)
		switch {
		case x.Kind == unstable.Table:
			own = len(keys) >= 2 && keys[0] == tomlTable && keys[1] == serverName
		case x.Kind == unstable.ArrayTable:
			own = false
		case x.Kind == unstable.KeyValue:
			end = int(x.Raw.Offset + x.Raw.Length)
		default:
			continue // a comment
		}
		if !own {
			continue
		}
		if from < 0 {
			from = bytes.LastIndexByte(body[:end], '\n') + 1
		}
		to = len(body)
		if n := bytes.IndexByte(body[end:], '\n'); n >= 0 {
			to = end + n + 1
		}
	}
	if from < 0 {
		return -1, -1
	}
	if line := bytes.LastIndexByte(body[:max(from-1, 0)], '\n') + 1; from > 0 && len(bytes.TrimSpace(body[line:from])) == 0 {
		from = line
	}
	return from + skipped, to + skipped
}

// tomlKey is the key of an expression, and where it ends.
func tomlKey(x *unstable.Node) (keys []string, end int) {
	if x.Kind != unstable.Table && x.Kind != unstable.ArrayTable && x.Kind != unstable.KeyValue {
		return nil, 0
	}
	for it := x.Key(); it.Next(); {
		keys = append(keys, string(it.Node().Data))
		end = int(it.Node().Raw.Offset + it.Node().Raw.Length)
	}
	return keys, end
}
