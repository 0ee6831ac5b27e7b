package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/cmemd/cmemd/internal/setting"
)

// parseTOML returns the keys of a settings file in their order, each with its line. What is not TOML is an error that
// begins with its line. Tables and arrays are keys that no setting has: they come as lines of no kind.
func parseTOML(data []byte) ([]configLine, error) {
	var whole map[string]any // finds what a parser of single expressions does not: keys given twice, bad escapes
	if err := toml.Unmarshal(data, &whole); err != nil {
		return nil, tomlError(err)
	}
	p := unstable.Parser{}
	p.Reset(data)
	var lines []configLine
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		key, at := dotted(&p, e)
		if e.Kind != unstable.KeyValue {
			table = key + "."
		}
		if e.Kind == unstable.KeyValue {
			key = table + key
		}
		line := configLine{where: fmt.Sprintf("%s:%d", FileName, at), key: key, name: key}
		if e.Kind == unstable.KeyValue && table == "" {
			line.value, line.kind = tomlValue(whole[key])
		}
		if e.Kind == unstable.KeyValue || table != "" {
			lines = append(lines, line)
		}
	}
	if err := p.Error(); err != nil {
		return nil, tomlError(err)
	}
	return lines, nil
}

// dotted returns the key of an expression and the line that it stands in.
func dotted(p *unstable.Parser, e *unstable.Node) (key string, line int) {
	var parts []string
	for it := e.Key(); it.Next(); {
		if line == 0 {
			line = p.Shape(it.Node().Raw).Start.Line
		}
		parts = append(parts, string(it.Node().Data))
	}
	return strings.Join(parts, "."), line
}

// tomlValue returns a value as text and how it was written. What no setting can be comes as what it is.
func tomlValue(decoded any) (text string, kind setting.Kind) {
	switch v := decoded.(type) {
	case string:
		return v, setting.KindText
	case int64:
		return fmt.Sprint(v), setting.KindNumber
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), setting.KindMoney
	case bool:
		return fmt.Sprint(v), ""
	case []any:
		return tomlList(v)
	case map[string]any:
		return "a table", ""
	}
	return "a time", ""
}

// tomlList returns a list of texts with commas between them. One of anything else, or with commas in it, no setting can be.
func tomlList(list []any) (text string, kind setting.Kind) {
	texts := make([]string, len(list))
	for i, v := range list {
		s, ok := v.(string)
		if !ok || strings.Contains(s, setting.Comma) {
			return "a list", ""
		}
		texts[i] = s
	}
	return strings.Join(texts, setting.Comma), setting.KindList
}

// tomlError gives a decoding error the form "LINE: what is wrong".
func tomlError(err error) error {
	var d *toml.DecodeError
	if !errors.As(err, &d) {
		return fmt.Errorf(" %w", err)
	}
	line, _ := d.Position()
	return fmt.Errorf("%d: %s", line, strings.TrimPrefix(d.Error(), "toml: "))
}
