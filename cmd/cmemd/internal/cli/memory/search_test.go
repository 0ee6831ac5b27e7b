package memory

import (
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
)

func TestParseAsOf(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	for _, c := range []struct {
		text     string
		position events.Position
		at       time.Time
		ok       bool
	}{
		{"", 0, time.Time{}, true},
		{"17", 17, time.Time{}, true},
		{"3d", 0, now.Add(-72 * time.Hour), true},
		{"2026-02-01", 0, time.Date(2026, 2, 1, 0, 0, 0, 0, time.Local), true},
		{"2026-02-01T10:00:00Z", 0, time.Date(2026, 2, 1, 10, 0, 0, 0, time.UTC), true},
		{"-1", 0, time.Time{}, false},
		{"soon", 0, time.Time{}, false},
		{"99999999999999999999", 0, time.Time{}, false},
	} {
		m, err := parseAsOf(&cobra.Command{Use: "search"}, c.text, now)
		if (err == nil) != c.ok || c.ok && (m.Position != c.position || !m.Time.Equal(c.at)) {
			t.Errorf("%q: got %v, %v", c.text, m, err)
		}
		if err != nil && terminal.ExitCode(err) != terminal.ExitUsage {
			t.Errorf("%q: exit code %d", c.text, terminal.ExitCode(err))
		}
	}
}
