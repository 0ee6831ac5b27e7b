package recall

import (
	"cmp"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// stamp is when a row was made, and where it stands in its log.
type stamp struct {
	at       time.Time
	position events.Position
}

func stampOf(row *rows.Row) stamp { return stamp{row.At, row.Position} }

func (s stamp) compare(other stamp) int {
	return cmp.Or(s.at.Compare(other.at), cmp.Compare(s.position, other.position))
}

// place is where a piece stands in the text.
type place struct {
	p       *piece
	foreign int
	day     time.Time // on which its entry began, where the text has days (midnight)
	newest  stamp     // of its session
	oldest  stamp     // of its entry
	own     stamp
}

// shown returns the chosen pieces in the order of the text: in each section what the person saved before what others did, and of what was
// done the newest day first, so that each has one heading in what a new session is given. Of a day the sessions come first that were last
// heard of, and what each did in the order in which it was asked for, so that what follows up on something stands behind it.
func (c *chooser) shown() []*piece {
	newest, oldest := map[events.ID]stamp{}, map[rows.Entry]stamp{}
	places := make([]place, 0, len(c.pieces))
	for _, p := range c.pieces {
		if !p.chosen {
			continue
		}
		own, session, entry := stampOf(&p.row), sessionOf(p), p.row.Entry()
		places = append(places, place{p: p, foreign: foreign(p.row), own: own})
		if n, ok := newest[session]; !ok || own.compare(n) > 0 {
			newest[session] = own
		}
		if o, ok := oldest[entry]; !ok || own.compare(o) < 0 {
			oldest[entry] = own
		}
	}
	for i, at := range places {
		places[i].newest, places[i].oldest = newest[sessionOf(at.p)], oldest[at.p.row.Entry()]
		if at.p.sec.byEntry() {
			places[i].day = c.midnight(places[i].oldest.at)
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.p.sec, b.p.sec), cmp.Compare(a.foreign, b.foreign), b.day.Compare(a.day), b.newest.compare(a.newest), a.oldest.compare(b.oldest), a.own.compare(b.own))
	})
	out := make([]*piece, len(places))
	for i, at := range places {
		out[i] = at.p
	}
	return out
}

// midnight is the day that a time is of, in the zone of the hook's clock: its date at midnight UTC.
func (c *chooser) midnight(t time.Time) time.Time {
	t = c.local(t)
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// sessionOf is the session of a piece of what was done; all else is by itself.
func sessionOf(p *piece) events.ID {
	if p.sec.byEntry() && !p.row.Session.IsZero() {
		return events.ID(p.row.Session)
	}
	return p.row.ID
}

// foreign is 0 of what the person or the observer says, and 1 of what is saved by others: the person's own comes first.
func foreign(row rows.Row) int {
	if row.Kind != rows.Memory || row.By() == "" {
		return 0
	}
	return 1
}
