package api

import (
	"fmt"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// VerifyRoute proves the log.
var VerifyRoute = Work[NoQuery, Verified]{get, "/v1/log/verify", ScopeView, "checks every record and the balance"}

// Verified is the result of checking the log. A log that is damaged, or whose balance does not add up, is no error of the
// call.
type Verified struct {
	OK       bool            `json:"ok"`                 // every record is what it says, and the balance adds up
	Records  events.Position `json:"records"`            // checked, if none is bad
	Position events.Position `json:"position,omitempty"` // of the first bad record; 0: there is none, or it is the file itself
	Stream   events.StreamID `json:"stream,omitempty"`
	Reason   string          `json:"reason,omitempty"` // why a record is bad; empty: none is

	Balance       *session.Balance `json:"balance,omitempty"`       // of all inputs, counted anew from the records; nil: it was not
	Discrepancies []Discrepancy    `json:"discrepancies,omitempty"` // where something else counts otherwise
	More          int              `json:"more,omitempty"`          // discrepancies beyond those
	Unchecked     string           `json:"unchecked,omitempty"`     // what of the balance could not be checked, and why

	Lost     uint64        `json:"lost,omitempty"`      // records that a salvage found nothing of: placeholders stand there
	LostAt   []events.Span `json:"lost_at,omitempty"`   // where, the first of them
	Unread   uint64        `json:"unread,omitempty"`    // records of which a salvage found the header alone
	UnreadAt []events.Span `json:"unread_at,omitempty"` // where, the first of them
}

// Damaged reports whether a record is not what it says.
func (v Verified) Damaged() bool { return v.Reason != "" }

// Place says, for people, where the first bad record is.
func (v Verified) Place() string {
	switch {
	case v.Position == 0:
		return "in its file"
	case v.Stream == "":
		return fmt.Sprintf("at position %d", v.Position)
	}
	return fmt.Sprintf("at position %d (%s)", v.Position, v.Stream)
}

// Discrepancy is a place where a balance does not add up.
type Discrepancy struct {
	Session  events.SessionID `json:"session,omitzero"`   // zero: all of them together
	Position events.Position  `json:"position,omitempty"` // of the event that cannot be right; 0: the balance as a whole
	In       string           `json:"in"`                 // log: the records do not agree; views: the view of outcomes is wrong
	Problem  string           `json:"problem"`
	Counted  session.Balance  `json:"counted,omitzero"` // anew, from the records
	Claimed  session.Balance  `json:"claimed,omitzero"` // by what counts otherwise
}

// String is the discrepancy on one line, for people.
func (d Discrepancy) String() string {
	who := "all sessions together"
	if !d.Session.IsZero() {
		who = "session " + d.Session.String()
	}
	if d.Position != 0 {
		return fmt.Sprintf("%s, position %d: %s", who, d.Position, d.Problem)
	}
	return fmt.Sprintf("%s: %s: %s, where there are %s", who, d.Problem, BalanceWords(d.Claimed), BalanceWords(d.Counted))
}

// BalanceWords says what became of inputs on one line.
func BalanceWords(b session.Balance) string {
	return fmt.Sprintf("%d captured = %d observed + %d skipped + %d dropped + %d pending + %d forgotten",
		b.Captured, b.Observed, b.Skipped, b.Dropped, b.Pending, b.Forgotten)
}

// The places of a Discrepancy.
const (
	InLog   = "log"
	InViews = "views"
)
