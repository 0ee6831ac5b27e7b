package terminal

import (
	"testing"
	"time"
)

func TestParseWhen(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	for _, c := range []struct {
		text string
		want time.Time // zero: refused
	}{
		{"90m", now.Add(-90 * time.Minute)},
		{"12h30m", now.Add(-750 * time.Minute)},
		{"3d", now.Add(-72 * time.Hour)},
		{"2w", now.Add(-14 * 24 * time.Hour)},
		{"0s", now},
		{"2026-01-31", time.Date(2026, 1, 31, 0, 0, 0, 0, time.Local)},
		{"2026-01-31 08:15", time.Date(2026, 1, 31, 8, 15, 0, 0, time.Local)},
		{"2026-01-31T08:15", time.Date(2026, 1, 31, 8, 15, 0, 0, time.Local)},
		{"2026-01-31T08:15:00.5Z", time.Date(2026, 1, 31, 8, 15, 0, 5e8, time.UTC)},
		{"", time.Time{}},
		{"-3d", time.Time{}},
		{"-1h", time.Time{}},
		{"d", time.Time{}},
		{"60000w", time.Time{}},
		{"1000000h", time.Time{}},
		{"2026-13-01", time.Time{}},
		{"soon", time.Time{}},
		{"0192f3a4-7b2c-7d1e", time.Time{}},
	} {
		got, ok := ParseWhen(c.text, now)
		if ok == c.want.IsZero() || ok && !got.Equal(c.want) {
			t.Errorf("parseWhen(%q) = %v, %v, want %v", c.text, got, ok, c.want)
		}
	}
}

func FuzzParseWhen(f *testing.F) {
	for _, s := range []string{"1h", "3d", "9w", "2026-01-31", "2026-01-31T08:15:00Z", "99999w"} {
		f.Add(s)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		if ago, ok := parseAgo(s); ok && (ago < 0 || ago > maxAgo) {
			t.Fatalf("parseAgo(%q) = %v", s, ago)
		}
		ParseWhen(s, now)
	})
}
