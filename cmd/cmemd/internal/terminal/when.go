package terminal

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/internal/setting"
)

// maxAgo bounds how long ago a time may be told to be: a hundred years.
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

// A WhenFlag is a flag that holds a time.
type WhenFlag struct {
	Text string
	name string
}

func AddWhen(c *cobra.Command, name, doc string) *WhenFlag {
	w := &WhenFlag{name: name}
	c.Flags().StringVar(&w.Text, name, "", doc+": 2h, 3d, 2w ago, 2026-01-31, or RFC 3339")
	return w
}

// At returns the time, zero if the flag was not given, or a UsageError of c.
func (w *WhenFlag) At(c *cobra.Command, now time.Time) (time.Time, error) {
	if w.Text == "" {
		return time.Time{}, nil
	}
	at, ok := ParseWhen(w.Text, now)
	if !ok {
		return at, Misused(c, "--%s %q is no time: write 2h, 3d or 2w for so long ago, 2026-01-31, or RFC 3339", w.name, w.Text)
	}
	return at, nil
}

// OneOf returns a UsageError of c unless value is empty or one of words.
func OneOf(c *cobra.Command, flag, value string, words ...string) error {
	if value == "" {
		return nil
	}
	for _, w := range words {
		if value == w {
			return nil
		}
	}
	return Misused(c, "--%s %q is none of %s", flag, value, strings.Join(words, ", "))
}

// Choose has a shell complete a flag of c with the words that oneOf takes.
func Choose(c *cobra.Command, flag string, words ...string) {
	MustComplete(c, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// MustComplete adds what a shell can complete a flag of c with.
func MustComplete(c *cobra.Command, flag string, with cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, with); err != nil {
		panic(err) // a flag that does not exist
	}
}

// ShortDuration writes d without the zero parts that time.Duration adds: 10m, not 10m0s.
func ShortDuration(d time.Duration) string { return setting.ShortDuration(d) }
