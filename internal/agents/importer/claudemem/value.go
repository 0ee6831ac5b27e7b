package claudemem

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// row is what was read of one row: values of whatever type they are.
type row struct {
	id      int64
	long    bool // a value is over maxText
	columns []column
	values  []any // of each of them
}

// value is that of the column of that name, the newest; nil where it was not read.
func (r row) value(column string) any {
	for i, c := range r.columns {
		if c.names[0] == column {
			return r.values[i]
		}
	}
	return nil
}

// text is a value as text; ok is false for bytes that are none. Numbers are written out.
func (r row) text(column string) (s string, ok bool) { return textOf(r.value(column)) }

func textOf(value any) (s string, ok bool) {
	switch v := value.(type) {
	case nil:
		return "", true
	case string:
		return strings.ToValidUTF8(v, "\uFFFD"), true
	case []byte:
		return string(v), utf8.Valid(v)
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}

// hasZeroByte reports whether there is a zero byte in a text: what SQLite reads behind the end of a file that was cut.
func (r row) hasZeroByte() bool {
	return slices.ContainsFunc(r.values, func(v any) bool {
		s, ok := v.(string)
		return ok && strings.IndexByte(s, 0) >= 0
	})
}

// isText reports whether all values are texts but the first four, which say of which session they are, and when.
func (r row) isText() bool {
	return !slices.ContainsFunc(r.values[4:], func(v any) bool {
		_, ok := textOf(v)
		return !ok
	})
}

// name is a value as a short text without white space around it; what is longer names nothing.
func (r row) name(column string) string {
	s, ok := r.text(column)
	if s = strings.TrimSpace(s); !ok || len(s) > maxName {
		return ""
	}
	return s
}

// maxName is the longest id or name in bytes.
const maxName = 512

// number is a value as a whole number from 0 on; anything else is 0.
func (r row) number(column string) int {
	n, ok := whole(r.value(column))
	if !ok || n < 0 || n > math.MaxInt32 {
		return 0
	}
	return int(n)
}

func whole(v any) (n int64, ok bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), v == v && math.Abs(v) < 1<<53
	case string:
		n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		return n, err == nil
	}
	return 0, false
}

// textsOf reads a value that is a JSON array of texts. A text that is none is the only one of the list.
func textsOf(s string) (out []string) {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	var values []any
	if json.Unmarshal([]byte(s), &values) != nil {
		if json.Valid([]byte(s)) {
			return nil // an object, a number or null
		}
		return []string{s}
	}
	for _, v := range values {
		if s, ok := v.(string); ok && s != "" {
			out = append(out, s)
		}
	}
	return out
}

// secondsBelow is below which a number counts seconds since 1970, not milliseconds: both are in this century then.
const secondsBelow = 100_000_000_000

// at is the time that the epoch beside a column says, or else that column, a date; zero: none that a clock shows.
func (r row) at(column string, now time.Time) time.Time {
	if n, ok := whole(r.value(column + "_epoch")); ok {
		if n < secondsBelow {
			n *= 1000
		}
		if t := time.UnixMilli(n).UTC(); sane(t, now) {
			return t
		}
	}
	s, _ := r.text(column)
	for _, layout := range []string{time.RFC3339, time.DateTime} {
		if t, err := time.Parse(layout, strings.TrimSpace(s)); err == nil && sane(t, now) {
			return t.UTC().Truncate(time.Millisecond)
		}
	}
	return time.Time{}
}

// sane reports whether t may be when something was done: this century, and no more than a day ahead.
func sane(t, now time.Time) bool {
	return t.UTC().Year() >= 2000 && t.Before(now.Add(24*time.Hour))
}
