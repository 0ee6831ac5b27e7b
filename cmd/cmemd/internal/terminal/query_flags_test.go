package terminal

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

func TestParseMoment(t *testing.T) {
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
		{"0", 0, time.Time{}, false},
		{"soon", 0, time.Time{}, false},
		{"99999999999999999999", 0, time.Time{}, false},
	} {
		m, err := parseMoment(&cobra.Command{Use: "search"}, "as-of", c.text, now)
		if (err == nil) != c.ok || c.ok && (m.Position != c.position || !m.Time.Equal(c.at)) {
			t.Errorf("%q: got %v, %v", c.text, m, err)
		}
		if err != nil && ExitCode(err) != ExitUsage {
			t.Errorf("%q: exit code %d", c.text, ExitCode(err))
		}
	}
}

// TestQueryFlags reads flags into a query as its tags say.
func TestQueryFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--kind prompt --kind memory,summary --type a -n 7 --recency 0 --as-of 9 --facets": "",
		"--kind other --sort best": `--kind "other" is none of observation, summary, memory, prompt`,
		"--sort best --limit 0":    `--sort "best" is none of relevance, newest, oldest`,
		"--limit 101 --since x":    "--limit 101: it must be from 1 to 100",
		"--offset -1":              "--offset -1: it must be from 0 to 10000",
		"--offset 10001":           "--offset 10001: it must be from 0 to 10000",
		"--recency 1001":           "--recency 1001: it must be from 0 to 1000",
		"--as-of soon":             `--as-of "soon" is no position from 1 on, and no time`,
		"--since never":            `--since "never" is no time`,
	} {
		a, _, _ := newApp()
		a.Now = time.Now
		var q api.SearchQuery
		cmd := &cobra.Command{Use: "x", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { return nil }}
		QueryFlags(a, cmd, &q)
		cmd.SetArgs(strings.Fields(args))
		err := cmd.Execute()
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v; want %q", args, err, want)
		}
		none := 0
		full := api.SearchQuery{Kind: "prompt,memory,summary", Type: "a", Limit: 7, Recency: &none, AsOf: api.Moment{Position: 9}, Facets: true}
		if d := cmp.Diff(full, q); want == "" && d != "" {
			t.Errorf("%s (-want +got):\n%s", args, d)
		}
	}
}
