package replay

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// noYieldLimits are those of the settings that planted lives record.
var noYieldLimits = events.Limits{Unparseable: 3, Window: time.Hour}

// TestProveOfNoYield plants a pause behind answers that were dropped, blank or kept.
func TestProveOfNoYield(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers []string
		counted int
		limits  events.Limits
		why     string // empty: the pause is proved
	}{
		"as many as it takes":         {[]string{prose, prose, prose}, 3, noYieldLimits, ""},
		"a blank one between":         {[]string{prose, prose, "", prose}, 3, noYieldLimits, ""},
		"too few":                     {[]string{prose, prose}, 3, noYieldLimits, "fewer answers"},
		"too few, and it says so":     {[]string{prose, prose}, 2, noYieldLimits, "so few answers"},
		"other limits":                {[]string{prose, prose, prose}, 3, events.Limits{Unparseable: 2, Window: time.Hour}, "its limits"},
		"the last one was kept":       {[]string{prose, prose, prose, observed}, 3, noYieldLimits, "no answer of that turn"},
		"one was kept shortly before": {[]string{prose, prose, observed, prose}, 3, noYieldLimits, ""},
	} {
		s := newScript(t)
		s.begin(map[string]string{"provider": s.provider, "no_yield_max": "3", "no_yield_window": "1h"})
		var turn events.ID
		for i, text := range c.answers {
			name := fmt.Sprint("s", i)
			s.work(name, 1)
			s.stop(name)
			s.mustStart(name)
			turn = s.turns[name].Turn
			s.answer(name, text)
		}
		s.rule(events.ProviderPaused{
			Class: events.FailNoYield, Turn: turn, Probe: 1, Until: s.now.Add(policy.DefaultPause().Nth(1)),
			Limits: c.limits, Counted: events.Counted{Unparseable: c.counted},
		})
		switch got := prove(t, s.log, Selection{}).Differences; {
		case c.why == "" && len(got) > 0:
			t.Errorf("%s: got %s", name, shown(got))
		case c.why != "" && (len(got) != 1 || !strings.Contains(got[0].Why, c.why)):
			t.Errorf("%s: got %s, want one that says %q", name, shown(got), c.why)
		}
	}
}
