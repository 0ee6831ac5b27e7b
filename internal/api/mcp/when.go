package mcp

import (
	"fmt"
	"strconv"
	"time"
)

// timeOf reads a time as a model writes it: RFC 3339 with or without seconds, a day, which begins at midnight UTC, or how
// long ago: 36h, 7d, 2w. Empty is the zero time.
func timeOf(name, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04", time.DateTime, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	if ago, ok := agoOf(text); ok {
		return now.Add(-ago), nil
	}
	return time.Time{}, &wrongArgument{fmt.Sprintf("%s %s is no time", name, quoted(text)), "write 2026-01-31, 2026-01-31T15:04Z, or how long ago: 36h, 7d, 2w"}
}

// maxAgo is how long ago something may be said to be: longer than any log.
const maxAgo = 100 * 365 * 24 * time.Hour

func agoOf(text string) (time.Duration, bool) {
	units := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	each, ok := units[text[len(text)-1]]
	n, err := strconv.Atoi(text[:len(text)-1])
	if !ok || err != nil || n < 1 || n > int(maxAgo/each) {
		return 0, false
	}
	return time.Duration(n) * each, true
}
