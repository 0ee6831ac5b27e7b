package terminal

import (
	"strconv"
	"strings"
	"time"
)

// maxAgo bounds how long ago a time may be given to be: a hundred years.
const maxAgo = 100 * 366 * 24 * time.Hour

// ParseWhen reads a time as people write it: 90m, 12h, 3d or 2w ago; a local date, with or without a time of day; or
// RFC 3339. ok is false for anything else.
func ParseWhen(text string, now time.Time) (at time.Time, ok bool) {
	if ago, ok := parseAgo(text); ok {
		return now.Add(-ago), true
	}
	for _, layout := range []string{"2006-01-02", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05"} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return at, true
		}
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	return at, err == nil
}

func parseAgo(text string) (ago time.Duration, ok bool) {
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		digits, found := strings.CutSuffix(text, unit)
		n, err := strconv.ParseUint(digits, 10, 16)
		if found && err == nil && time.Duration(n) <= maxAgo/length {
			return time.Duration(n) * length, true
		}
	}
	ago, err := time.ParseDuration(text)
	return ago, err == nil && ago >= 0 && ago <= maxAgo
}
