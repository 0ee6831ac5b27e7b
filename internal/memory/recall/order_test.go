package recall

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
)

// A day has one heading, whatever days the sessions went on over, and in whatever zone the reader is; the newest day stands first.
func TestEachDayHasOneHeading(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		sessions [][]time.Duration // after the first hour, of each the times of its work
		zone     int               // seconds east of UTC
		want     []string
	}{
		"a session goes on around another": {[][]time.Duration{{0, 2 * day}, {day, 2*day - time.Hour}}, 0, []string{"Mar 3, 2026", "Mar 2, 2026", "Mar 1, 2026"}},
		"two go on over midnight":          {[][]time.Duration{{0, day}, {time.Hour, day + time.Hour}}, 0, []string{"Mar 2, 2026", "Mar 1, 2026"}},
		"midnight is the reader's":         {[][]time.Duration{{0, 6 * time.Hour}, {time.Hour, 7 * time.Hour}}, 10 * 3600, []string{"Mar 2, 2026", "Mar 1, 2026"}},
		"one session goes on for days":     {[][]time.Duration{{0, day, 2 * day}}, 0, []string{"Mar 3, 2026", "Mar 2, 2026", "Mar 1, 2026"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			first := w.now.Add(time.Hour)
			for i, times := range c.sessions {
				s := w.open(fmt.Sprint(i), "shop")
				for j, after := range times {
					w.now = first.Add(after)
					w.titled(s, j+1, fmt.Sprintf("Mend part %d of carousel %d before noon", j+1, i), fmt.Sprintf("Part %d of carousel %d was too fast", j+1, i), fmt.Sprintf("Lamp %d of carousel %d was dark", j+1, i))
				}
			}
			ask := shop("startup", events.SessionID{})
			ask.Now = first.Add(5 * day).In(time.FixedZone("reader", c.zone))
			got := w.mustContext(ask)
			var days []string
			for line := range strings.Lines(got.Text) {
				if d, ok := strings.CutPrefix(strings.TrimSpace(line), "### "); ok {
					days = append(days, d)
				}
			}
			if !slices.Equal(days, c.want) {
				t.Errorf("days %q, want %q:\n%s", days, c.want, got.Text)
			}
		})
	}
}
