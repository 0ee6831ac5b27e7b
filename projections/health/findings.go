package health

import (
	"fmt"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/order"
)

// What makes the observer count as degraded: numbers and kinds, never a word that a model said.
const (
	// DegradedUnusable is how many answers in a row may not parse. In recorded sessions whose models kept anything the
	// longest such run was 8; in those whose models answered in prose alone, or had lost the thread, 21 to 41
	// (TestRecordedSessions).
	//
	// Answers that say in the agreed form that there is nothing to record are not among them, however many: they did what
	// was asked. Nobody but the model has seen whether there was something in a session that only looks around, and one that
	// is quiet must not count as ill. Forty of them give a yield of 0 %, which is shown, and no finding.
	DegradedUnusable = 20

	// DegradedBlank is how many answers in a row may be blank to work that held an edit, a commit or a failed test. Blank
	// is what models are asked to say where there is nothing to record, and the longest run in a good recorded session
	// was 12; a provider that loses answers gives nothing else.
	DegradedBlank = 50

	// DegradedHold is how long a provider may be held back in all before a person should know without asking. Overload and
	// lost connections pass within minutes; what lasts an hour is a quota, a login or a bill.
	DegradedHold = time.Hour

	// lowTurns and lowShare say when too few answers of a day were of use, though some were: the worst of the recorded
	// sessions with a model that its user was content with gave 62 usable answers out of 147.
	lowTurns = 20
	lowShare = 0.4

	// probeGrace is how long after the end of a hold, or after a turn that tried it came to nothing, the hold is listed though
	// no turn tries it: what a turn may take unless turn_timeout says otherwise. Where work waits, one begins at once. Where
	// none does by then, the hold keeps nothing back any more.
	probeGrace = time.Minute

	// maxPause is how long a pause may be. One that ends later was written under a clock that has been set back since,
	// and keeps nobody back: see policy.MaxReset.
	maxPause = 8 * 24 * time.Hour
)

// FindingKind is what is not well.
type FindingKind string

// The kinds of finding, the gravest first.
const (
	FindCaptureOnly FindingKind = "capture_only" // the daemon itself observes nothing
	FindUnusable    FindingKind = "unusable"     // DegradedUnusable answers in a row did not parse
	FindBlank       FindingKind = "blank"        // DegradedBlank answers in a row were blank to work with an edit, a commit or a failed test
	FindHeld        FindingKind = "held"         // a provider is left alone
	FindQuarantined FindingKind = "quarantined"  // observers are stopped because they crash
	FindLowYield    FindingKind = "low_yield"    // few answers of the last day were of use, though it may be over
)

// Finding is one thing that is not well, in words for people. The words are this program's own: nothing that a model, a
// provider or an agent said is among them but the names of the provider, the model and the class of a failure.
type Finding struct {
	What     FindingKind         `json:"what"`
	Degraded bool                `json:"degraded"` // the observer counts as degraded; else it is only worth knowing
	Provider string              `json:"provider,omitempty"`
	Model    string              `json:"model,omitempty"`
	Class    events.FailureClass `json:"class,omitempty"` // of a hold
	Count    int64               `json:"count"`           // answers, or sessions
	Of       int64               `json:"of,omitempty"`    // answers that Count is a share of
	Since    time.Time           `json:"since"`
	At       time.Time           `json:"at"`             // when the newest of these numbers was made
	Until    time.Time           `json:"until,omitzero"` // when it is tried again; past: since when it may be
	Says     string              `json:"says"`           // what is the matter, since when, and how old the numbers are
	Do       string              `json:"do"`             // what mends it
}

// Findings lists what is not well at now, the gravest first; it looks at nothing but h and now, and dates are in now's
// zone. h must be of the day before now. A pause or a quarantine is listed until it is released, also while a turn tries it. Three
// things are over and not listed: a pause or quarantine whose time has passed for probeGrace and that no turn tries; one under which
// a turn was answered; and a streak after which another model has kept something.
func (h Report) Findings(now time.Time) []Finding {
	var out []Finding
	add := func(f Finding, ok bool) {
		if ok {
			out = append(out, f)
		}
	}
	add(h.captureOnly(now))
	for _, s := range h.Streaks {
		add(h.unusable(s, now))
		add(h.blank(s, now))
	}
	for _, p := range h.Pauses {
		add(held(p, now))
	}
	out = append(out, h.quarantined(now)...)
	for _, m := range h.Models {
		add(h.lowYield(m, now, out))
	}
	order.By(out, func(a, b Finding) int { return order.Bools(b.Degraded, a.Degraded) })
	return out
}

func (h Report) captureOnly(now time.Time) (Finding, bool) {
	return Finding{
		What: FindCaptureOnly, Degraded: true, Since: h.DegradedAt, At: h.DegradedAt,
		Says: fmt.Sprintf("cmemd only captures %s, and observes later", sinceWhen(h.DegradedAt, now)),
		Do:   "`cmemd logs` says which observers crashed; it goes on by itself once one of them answers",
	}, h.Degraded != ""
}

// over reports whether another model has kept something since s last answered: then somebody has chosen another one.
func (h Report) over(s Streak) bool {
	return slices.ContainsFunc(h.Streaks, func(other Streak) bool { return other.KeptAt.After(s.LastAt) })
}

func (h Report) unusable(s Streak, now time.Time) (Finding, bool) {
	f := s.finding(FindUnusable, s.Unusable)
	f.Says = fmt.Sprintf("the last %d answers of %s could not be used%s; %s; last answer %s",
		s.Unusable, modelName(s.Provider, s.Model), h.yieldOf(s), s.noneKept(now), agoWhen(s.LastAt, now))
	f.Do = "choose another model or provider (`cmemd config show`); `cmemd reobserve --dropped` then does the lost work again"
	return f, s.Unusable >= DegradedUnusable && !h.over(s)
}

func (h Report) blank(s Streak, now time.Time) (Finding, bool) {
	f := s.finding(FindBlank, s.Blank)
	f.Says = fmt.Sprintf("%d blank answers of %s in a row to work with an edit, a commit or a failed test; %s; last answer %s",
		s.Blank, modelName(s.Provider, s.Model), s.noneKept(now), agoWhen(s.LastAt, now))
	f.Do = fmt.Sprintf("choose another model or provider (`cmemd config show`); `cmemd reobserve --reason empty --since %s` then does the work again",
		f.Since.In(now.Location()).Truncate(time.Second).Format(time.RFC3339))
	return f, s.Blank >= DegradedBlank && !h.over(s)
}

func (s Streak) finding(what FindingKind, count int64) Finding {
	return Finding{What: what, Degraded: true, Provider: s.Provider, Model: s.Model, Count: count, Since: s.Since(), At: s.LastAt}
}

func (s Streak) noneKept(now time.Time) string {
	if s.KeptAt.IsZero() {
		return "none was ever kept, the first came " + agoWhen(s.FirstAt, now)
	}
	return "none was kept " + sinceWhen(s.KeptAt, now)
}

func (h Report) yieldOf(s Streak) string {
	for _, m := range h.Models {
		if y, ok := m.Yield(); ok && m.Provider == s.Provider && m.Model == s.Model {
			return fmt.Sprintf(" (yield of the last day %.0f %%)", 100*y)
		}
	}
	return ""
}

// held finds a pause that lasts: at once where a person is needed or a quota is used up, or where a provider that fails turns
// by their own fault did so again when it was tried; else from DegradedHold on. One such pause may be a bad input's doing.
func held(p Pause, now time.Time) (Finding, bool) {
	next, on := p.Trial.next(p.Until, now)
	if !on {
		return Finding{}, false
	}
	f := Finding{
		What: FindHeld, Degraded: now.Sub(p.Since) > DegradedHold, Provider: p.Provider, Model: p.Model, Class: p.Class,
		Count: int64(p.Probe), Since: p.Since, At: p.At, Until: p.Until,
	}
	f.Says = fmt.Sprintf("%s is left alone %s (%s), tried %s, %s", p.Provider, sinceWhen(p.Since, now), p.Class, times(p.Probe), next)
	advice, lasting := mendOf(p.Class)
	f.Do = fmt.Sprintf(advice, p.Provider)
	return f, f.Degraded || lasting || p.Class.BlamesTurn() && p.Probe > 1
}

// next says when what is held back until a time is tried, and whether it is held back at now.
func (t Trial) next(until, now time.Time) (says string, on bool) {
	left, last := until.Sub(now), until
	if t.Ended.After(last) {
		last = t.Ended
	}
	switch {
	case t.Answered || left > maxPause:
		return "", false
	case t.Turn != (events.ID{}):
		return "being tried now", true
	case left > 0:
		return "tried again " + atWhen(until, now), true
	}
	return "the next turn tries it", now.Sub(last) < probeGrace
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// mendOf says what a person does about failures of class c of a provider, and whether they will not pass soon by themselves.
func mendOf(c events.FailureClass) (advice string, lasting bool) {
	const (
		kept   = "; what happens is kept and observed afterwards"
		mended = "; then `cmemd restart`, and it is tried at once"
	)
	switch c {
	case events.FailLimit:
		return "wait until it answers, or choose another provider than %s" + kept, true
	case events.FailAuth:
		return "log in to %s again, or renew its key" + mended + kept, true
	case events.FailBilling:
		return "see to the bill of %s, or choose another provider" + mended + kept, true
	case events.FailSetup:
		return "install or configure %s: `cmemd logs` says what it misses" + mended + kept, true
	case events.FailRefused, events.FailOverflow, events.FailTruncated:
		return "it answered none of the last questions: see what `cmemd observer test` says of %s, its credit and its model" + kept, false
	case events.FailNoYield:
		return "its answers could not be read: see `cmemd outcomes --outcome dropped`, choose another model or provider than %s, " +
			"then `cmemd provider resume`; what was dropped can be asked again with `cmemd reobserve`" + kept, true
	case events.FailTransport, events.FailTimeout:
		return "look whether %s can be reached from this machine" + kept, false
	}
	return "wait, or choose another provider than %s if it lasts" + kept, false
}

// quarantined finds the stopped observers, by who answered in them, and what becomes next of the one that is tried first.
func (h Report) quarantined(now time.Time) []Finding {
	var out []Finding
	for _, q := range h.Quarantines {
		next, on := q.Trial.next(q.Until, now)
		if !on {
			continue
		}
		i := slices.IndexFunc(out, func(f Finding) bool { return f.Provider == q.Provider && f.Model == q.Model })
		if i < 0 {
			i = len(out)
			out = append(out, Finding{
				What: FindQuarantined, Degraded: true, Provider: q.Provider, Model: q.Model, Since: q.Since, Until: q.Until,
				Do: next,
			})
		}
		f := &out[i]
		f.Count++
		if q.At.After(f.At) {
			f.At = q.At
		}
		if q.Since.Before(f.Since) {
			f.Since = q.Since
		}
		if q.Until.Before(f.Until) {
			f.Until, f.Do = q.Until, next
		}
	}
	for i := range out {
		out[i].sayQuarantined(now)
	}
	return out
}

func (f *Finding) sayQuarantined(now time.Time) {
	who := "the observer of 1 session is"
	if f.Count > 1 {
		who = fmt.Sprintf("the observers of %d sessions are", f.Count)
	}
	f.Says = fmt.Sprintf("%s stopped %s, because they crash (%s); last crash %s", who, sinceWhen(f.Since, now), modelName(f.Provider, f.Model), agoWhen(f.At, now))
	f.Do = "`cmemd logs` says why; what happens is kept; " + f.Do
}

// lowYield finds a model few of whose answers were of use, unless something worse was found of it.
func (h Report) lowYield(m Model, now time.Time, found []Finding) (Finding, bool) {
	used, of := m.usable()
	f := Finding{What: FindLowYield, Provider: m.Provider, Model: m.Model, Count: used, Of: of, Since: h.Since, At: now}
	for _, s := range h.Streaks {
		if s.Provider == m.Provider && s.Model == m.Model {
			f.At = s.LastAt
			if h.over(s) {
				return f, false
			}
		}
	}
	f.Says = fmt.Sprintf("only %d of %d answers of %s in the last day could be used; last answer %s", used, of, modelName(m.Provider, m.Model), agoWhen(f.At, now))
	f.Do = "choose another model or provider (`cmemd config show`); `cmemd reobserve --dropped` then does the lost work again"
	worse := slices.ContainsFunc(found, func(t Finding) bool {
		return t.Provider == m.Provider && t.Model == m.Model && (t.What == FindUnusable || t.What == FindBlank)
	})
	return f, !worse && of >= lowTurns && float64(used) < lowShare*float64(of)
}
