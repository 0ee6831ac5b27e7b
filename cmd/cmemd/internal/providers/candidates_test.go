package providers

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
)

// TestCandidates: who could observe is told by what is at hand, with the model that is set, else the cheapest of the list, and its price
// where one is known and there is work to count.
func TestCandidates(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	day := DailyWork{Days: 2, Tokens: 1_000_000}
	for name, c := range map[string]struct {
		env      map[string]string
		settings string
		claude   bool
		day      DailyWork
		want     []string // provider model price
	}{
		"nothing":             {day: day},
		"a key":               {env: map[string]string{"ANTHROPIC_API_KEY": "x"}, day: day, want: []string{"anthropic claude-haiku-5-5 $0.10"}},
		"without work":        {env: map[string]string{"ANTHROPIC_API_KEY": "x"}, want: []string{"anthropic claude-haiku-5-5"}},
		"a model that is set": {map[string]string{"OPENAI_API_KEY": "x"}, "openai_model = \"mine\"\n", false, day, []string{"openai mine"}},
		"a client and a key": {map[string]string{"GEMINI_API_KEY": "x"}, "", true, day,
			[]string{"claude-cli claude-haiku-5-5 $0.10", "gemini gemini-3.5-flash $1.50"}},
	} {
		a, _, _ := clitest.App()
		a.HomeDir, a.Getenv = clitest.HomeWith(t, c.settings), func(name string) string { return c.env[name] }
		_ = os.Remove(filepath.Join(bin, "claude"))
		if c.claude {
			if err := os.WriteFile(filepath.Join(bin, "claude"), nil, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		l, err := config.ForHome(a)
		if err != nil {
			t.Fatal(err)
		}
		all, err := Candidates(a, l, c.day)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range all {
			line := one.Provider + " " + one.Model
			if one.DayUSD != nil {
				line += " " + terminal.Dollars(*one.DayUSD)
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

// TestDaysOf counts sessions with work, and days with some, and leaves out what is no input.
func TestDaysOf(t *testing.T) {
	t.Parallel()
	at := func(day int, kind events.Kind) events.Record {
		return events.Record{Header: events.Header{Kind: kind, OccurredAt: time.Date(2026, 3, day, 12, 0, 0, 0, time.Local)}}
	}
	got := dailyWorkOf([][]events.Record{
		{at(1, events.KindSessionOpened), at(2, events.KindToolUsed), at(2, events.KindToolUsed)},
		{at(2, events.KindToolUsed), at(5, events.KindToolUsed)},
		{at(9, events.KindSessionOpened), at(9, events.KindSessionClosed)},
	})
	want := DailyWork{Sessions: 2, Days: 2, First: time.Date(2026, 3, 2, 12, 0, 0, 0, time.Local), Last: time.Date(2026, 3, 5, 12, 0, 0, 0, time.Local)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
