package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/cmemd/cmemd/internal/setting"
	"github.com/cmemd/cmemd/internal/tomledit"
)

// parseTOML returns the keys of a settings file in their order, each with its line. What is not TOML is an error that
// begins with its line. Tables and arrays are keys that no setting has: they come as lines of no kind.
func parseTOML(data []byte) (lines []configLine, err error) {
	found, err := tomledit.Lines(data)
	if err != nil {
		return nil, tomlError(err)
	}
	for _, f := range found {
		key := strings.Join(f.Key, ".")
		line := configLine{where: fmt.Sprintf("%s:%d", FileName, f.Number), key: key, name: key}
		if len(f.Key) == 1 && !f.Table {
			line.value, line.kind = tomlValue(f.Value)
		}
		lines = append(lines, line)
	}
	return lines, nil
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
