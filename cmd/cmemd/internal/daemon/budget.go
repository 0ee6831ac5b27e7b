package daemon

import (
	"context"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/usage"
)

// spent returns what the turns cost that ended since from: those of one session, or with nil all. It waits, as
// long as ctx allows, until the views know all that is in the log now.
func (d *daemon) spent(ctx context.Context, from time.Time, session *events.SessionID) (tokens int64, usd float64, err error) {
	last, err := d.union.Last(ctx)
	if err != nil {
		return 0, 0, err
	}
	if err := d.views.Wait(ctx, last); err != nil {
		return 0, 0, err
	}
	f := usage.Filter{Since: from, By: usage.ByModel}
	if session != nil {
		f.Session = *session
	}
	groups, err := d.views.Usage(ctx, f)
	for _, g := range groups {
		for _, m := range g.Models {
			tokens += m.Tokens()
			usd += m.Money(d.prices.Cost).USD()
		}
	}
	return tokens, usd, err
}
