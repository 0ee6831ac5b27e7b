package policy

import (
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestBudget(t *testing.T) {
	t.Parallel()
	tomorrow := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	all := Budget{TokensDay: 1000, TokensSession: 500, USDDay: 2, USDSession: 1}
	for _, c := range []struct {
		name   string
		budget Budget
		spent  Spent
		want   BudgetRuling
	}{
		{"no limits", Budget{}, Spent{TokensDay: 1 << 60, USDSession: 1e9}, BudgetRuling{State: BudgetFree}},
		{"nothing spent", all, Spent{}, BudgetRuling{State: BudgetFree}},
		{"below the warning", all, Spent{TokensDay: 799}, BudgetRuling{State: BudgetFree}},
		{"at the warning", all, Spent{TokensDay: 800}, BudgetRuling{BudgetWarn, LimitTokensDay, 0.8, tomorrow}},
		{"one token left", all, Spent{TokensDay: 999}, BudgetRuling{BudgetWarn, LimitTokensDay, 0.999, tomorrow}},
		{"exactly reached", all, Spent{TokensDay: 1000}, BudgetRuling{BudgetSpent, LimitTokensDay, 1, tomorrow}},
		{"overdrawn by one big turn", all, Spent{TokensDay: 3000}, BudgetRuling{BudgetSpent, LimitTokensDay, 3, tomorrow}},
		{"a session is never free again", all, Spent{TokensSession: 500}, BudgetRuling{BudgetSpent, LimitTokensSession, 1, time.Time{}}},
		{"money of a day", all, Spent{USDDay: 2.5}, BudgetRuling{BudgetSpent, LimitUSDDay, 1.25, tomorrow}},
		{"money of a session", all, Spent{USDSession: 0.9}, BudgetRuling{BudgetWarn, LimitUSDSession, 0.9, time.Time{}}},
		{"spent outranks a warning", all, Spent{TokensDay: 990, USDDay: 2}, BudgetRuling{BudgetSpent, LimitUSDDay, 1, tomorrow}},
		{"spent first, then warned", all, Spent{TokensDay: 1000, USDDay: 1.9}, BudgetRuling{BudgetSpent, LimitTokensDay, 1, tomorrow}},
		{"the longer hold counts", all, Spent{TokensDay: 9000, TokensSession: 500}, BudgetRuling{BudgetSpent, LimitTokensSession, 1, time.Time{}}},
		{"the fuller warning counts", all, Spent{TokensDay: 810, USDDay: 1.8}, BudgetRuling{BudgetWarn, LimitUSDDay, 0.9, tomorrow}},
		{"of equal ones the first", all, Spent{TokensDay: 1000, USDDay: 2}, BudgetRuling{BudgetSpent, LimitTokensDay, 1, tomorrow}},
		{"a negative limit is none", Budget{TokensDay: -1}, Spent{TokensDay: 5}, BudgetRuling{State: BudgetFree}},
	} {
		if diff := cmp.Diff(c.want, c.budget.Decide(c.spent, tomorrow)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if !(Budget{}).None() || (Budget{USDSession: 0.01}).None() {
		t.Error("None must be true of the zero Budget alone")
	}
}

// TestMoreSpentIsNeverFreer: whatever the limits, spending more takes no step back from spent to warned to free.
func TestMoreSpentIsNeverFreer(t *testing.T) {
	t.Parallel()
	rank := map[BudgetState]int{BudgetFree: 0, BudgetWarn: 1, BudgetSpent: 2}
	rapid.Check(t, func(t *rapid.T) {
		tokens, money := rapid.Int64Range(0, 20), rapid.Float64Range(0, 20)
		b := Budget{tokens.Draw(t, "a"), tokens.Draw(t, "b"), money.Draw(t, "c"), money.Draw(t, "d")}
		s := Spent{tokens.Draw(t, "e"), tokens.Draw(t, "f"), money.Draw(t, "g"), money.Draw(t, "h")}
		more := Spent{s.TokensDay + tokens.Draw(t, "i"), s.TokensSession, s.USDDay, s.USDSession + money.Draw(t, "j")}
		before, after := b.Decide(s, time.Unix(9, 0)), b.Decide(more, time.Unix(9, 0))
		if rank[after.State] < rank[before.State] {
			t.Fatalf("%+v: %+v gave %+v, more gave %+v", b, s, before, after)
		}
		if (after.State == BudgetFree) != (after.Limit == "") {
			t.Fatalf("%+v names the wrong limit", after)
		}
	})
}

func TestDay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, at, from string
		hours          time.Duration
	}{
		{"UTC", "2026-03-01T23:59:59Z", "2026-03-01T00:00:00Z", 24},
		{"Europe/Berlin", "2026-03-29T12:00:00+02:00", "2026-03-29T00:00:00+01:00", 23},
		{"Europe/Berlin", "2026-10-25T12:00:00+01:00", "2026-10-25T00:00:00+02:00", 25},
		{"Asia/Kathmandu", "2026-03-01T00:00:00+05:45", "2026-03-01T00:00:00+05:45", 24},
		{"America/New_York", "2026-12-31T23:00:00-05:00", "2026-12-31T00:00:00-05:00", 24},
		{"America/Santiago", "2024-09-08T09:00:00-03:00", "2024-09-08T01:00:00-03:00", 23}, // midnight is skipped
		{"America/Santiago", "2024-09-07T09:00:00-04:00", "2024-09-07T00:00:00-04:00", 24},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		from, to := Day(at.In(zone))
		if got := from.Format(time.RFC3339); got != c.from || to.Sub(from) != c.hours*time.Hour {
			t.Errorf("%s in %s: got %s and %s, want %s and %d h", c.at, c.zone, got, to.Sub(from), c.from, c.hours)
		}
	}
}
