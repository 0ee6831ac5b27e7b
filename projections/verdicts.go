package projections

import (
	"time"

	"github.com/cmemd/cmemd/events"
)

// Verdict is a claim with what was found when it was recorded, and what the latest look found.
type Verdict struct {
	Claim     events.Claim   `json:"claim"` // with the verdict of then
	Now       events.Verdict `json:"now"`
	Evidence  string         `json:"evidence,omitempty"`  // of now
	CheckedAt time.Time      `json:"checked_at,omitzero"` // of the latest look; zero: none since it was recorded
	Verified  bool           `json:"verified,omitempty"`  // then, or at any look
}

// Gone reports whether what the claim names was there once and is not any more: after a rebase, say.
func (v Verdict) Gone() bool { return v.Now == events.Absent && v.Verified }

// Verdicts lists the row's claims, in their order, with the latest verdict on each.
func (r Row) Verdicts() []Verdict {
	out := make([]Verdict, 0, len(r.Claims))
	for _, c := range r.Claims {
		v := Verdict{Claim: c, Now: c.Verdict, Evidence: c.Evidence, Verified: c.Verdict == events.Verified}
		for _, look := range r.Checks {
			if look.Claim.Kind != c.Kind || look.Claim.Value != c.Value {
				continue
			}
			v.Now, v.Evidence, v.CheckedAt = look.Claim.Verdict, look.Claim.Evidence, look.At
			v.Verified = v.Verified || v.Now == events.Verified
		}
		out = append(out, v)
	}
	return out
}

// flagged reports whether the row names files that nobody touched, or makes a claim that is absent and was never
// verified. What was true once was no lie, whatever became of it.
func flagged(row Row) bool {
	if row.Unseen {
		return true
	}
	for _, v := range row.Verdicts() {
		if v.Now == events.Absent && !v.Gone() {
			return true
		}
	}
	return false
}
