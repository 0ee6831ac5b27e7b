package daemon

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/projections/health"
)

type fixedHealth struct {
	health health.Report

	err error
}

func (f fixedHealth) Health(context.Context, time.Time, time.Time) (health.Report, error) {
	return f.health, f.err
}

func TestNotice(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	sick := health.Streak{Provider: "anthropic", Model: "small", Unusable: 30, Blank: 60, KeptAt: now.Add(-3 * time.Hour), LastAt: now.Add(-4 * time.Minute)}
	held := health.Pause{Provider: "anthropic", Class: "limit", Since: now.Add(-time.Minute), At: now, Until: now.Add(26 * time.Hour), Probe: 1}
	over, probed := held, held
	over.Until, probed.Until = now.Add(-time.Hour), now.Add(-time.Hour)
	probed.Trial.Turn = events.ID{1}
	for _, c := range []struct {
		name  string
		h     fixedHealth
		acts  provider.Status
		stop  []string
		asked int
		want  []string // parts; none: no notice
		not   string
	}{
		{name: "well", h: fixedHealth{health: health.Report{Streaks: []health.Streak{{Provider: "anthropic", Unusable: 3}}}}},
		{name: "nothing yet", h: fixedHealth{}},
		{
			name: "requests to forget", h: fixedHealth{}, asked: 2,
			want: []string{"agents asked to forget memory, which is hidden until you decide: `cmemd forget --requests` lists 2 requests."},
		},
		{name: "unknown", h: fixedHealth{health: health.Report{Degraded: "x"}, err: errors.New("closed")}},
		{name: "a bad day that is over", h: fixedHealth{health: health.Report{Models: []health.Model{{Provider: "p", Count: health.Count{
			Kept: 1, Dropped: map[string]int64{"prose/no_xml": 20},
		}}}}}},
		{name: "a pause that is over", h: fixedHealth{health: health.Report{Pauses: []health.Pause{over}}}},
		{
			name: "a pause that a turn tries", h: fixedHealth{health: health.Report{Pauses: []health.Pause{probed}}},
			want: []string{"anthropic is left alone", "being tried now"},
		},
		{
			name: "a pause with one that stands in", h: fixedHealth{health: health.Report{Pauses: []health.Pause{held}}},
			acts: provider.Status{InUse: "extractive"}, want: []string{"anthropic is left alone", "; extractive is asked instead. To mend it"},
		},
		{
			name: "a budget", acts: provider.Status{Budget: &provider.BudgetStatus{
				State: policy.BudgetSpent, Limit: "budget_tokens_session", Held: 2,
				Limits: []provider.BudgetLimit{{Name: "budget_tokens_session", Limit: 100, Used: 130}},
			}},
			want: []string{"budget_tokens_session is used up (130 of 100 tokens): what 2 sessions captured is held until it is raised.", "raise it (`cmemd config set budget_tokens_session ...`)"},
		},
		{
			name: "views that stand still", h: fixedHealth{err: errors.New("closed")}, stop: []string{"views", "index"},
			want: []string{"views and index stopped, what happens is still captured. ", "`cmemd doctor`"},
		},
		{
			name: "one thing, with its age and its mend", h: fixedHealth{health: health.Report{Pauses: []health.Pause{held}}},
			want: []string{"anthropic is left alone", "tried again at 2026-03-02 14:00 (in 26 h)", "To mend it: wait until it answers"},
		},
		{
			name: "three things are one and a number", h: fixedHealth{health: health.Report{
				Streaks: []health.Streak{sick}, Pauses: []health.Pause{held},
			}}, want: []string{"the last 30 answers of small (anthropic)", "last answer 4 min ago", "cmemd reobserve --dropped", "`cmemd doctor` tells of 2 things more."}, not: "left alone",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := notices{views: c.h, status: func(context.Context) (actors.Status, error) { return actors.Status{Status: c.acts}, nil }, now: func() time.Time { return now }, stopped: func() []string { return c.stop }, asked: func() int { return c.asked }}.line(t.Context())
			if (got == "") != (len(c.want) == 0) || strings.Contains(got, "\n") || len(relay.Notice(got)) > 400 {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			for _, part := range c.want {
				if !strings.Contains(got, part) {
					t.Errorf("got %q, want %q in it", got, part)
				}
			}
			if c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("got %q, want no %q", got, c.not)
			}
		})
	}
}

// TestNoticeOfWhatVariablesSet: it is told behind what is not well, and by itself where all is well.
func TestNoticeOfWhatVariablesSet(t *testing.T) {
	t.Parallel()
	for left, want := range map[int]string{
		0: "",
		2: "what variables set until now does not count any more: `cmemd status` names 2 settings, `cmemd start` in your terminal takes them over.",
	} {
		n := notices{
			views: healthy{}, status: func(context.Context) (actors.Status, error) { return actors.Status{}, nil }, now: time.Now,
			stopped: func() []string { return nil }, asked: func() int { return 0 }, leftOut: func() int { return left },
		}
		if got := n.line(t.Context()); got != want {
			t.Errorf("%d left out: got %q, want %q", left, got, want)
		}
	}
}

// healthy is a daemon of which there is nothing to tell.
type healthy struct{}

func (healthy) Health(context.Context, time.Time, time.Time) (health.Report, error) {
	return health.Report{}, nil
}

// TestNoticeOfMachines: what keeps memory from being shared is told, whatever else is well.
func TestNoticeOfMachines(t *testing.T) {
	t.Parallel()
	n := notices{
		views: healthy{}, status: func(context.Context) (actors.Status, error) { return actors.Status{}, nil }, now: time.Now,
		sharing: func(context.Context) []string { return []string{"this machine was revoked"} },
		stopped: func() []string { return nil }, asked: func() int { return 0 },
	}
	if got, want := n.line(t.Context()), "this machine was revoked. `cmemd doctor` says more."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
