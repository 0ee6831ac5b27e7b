package replay

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/events"
)

// checkChoice checks the provider of a turn that begins. Its lease was granted before, at most as long ago as preparing a turn
// may take, so that it is enough that the provider might be asked at some moment since. With sessions selected, nothing is
// looked at.
func (p *prover) checkChoice(s *provedSession, d *decision, e events.TurnStarted) {
	if len(p.sel.Sessions) > 0 {
		return
	}
	var why, doubt string
	if e.Provider != p.life.soleProvider || len(e.Instead) > 0 {
		why, doubt = p.chosen(s, d, e)
	}
	if why == "" && doubt == "" {
		p.account(ProvedChoice, "")
		return
	}
	p.account(ProvedChoice, doubt, d.differenceAt(0, shown(e), "", why))
}

// chosen says what is wrong with the provider of a turn, or why that cannot be told; both empty: it might be asked.
func (p *prover) chosen(s *provedSession, d *decision, e events.TurnStarted) (why, doubt string) {
	if s.doubt != "" {
		return "", s.doubt
	}
	if len(p.life.routes.Providers) == 0 {
		return "", "the providers of that life are not on record"
	}
	q := provider.RequirementOf(s.state.Planned(p.rules(s, d), e.Settles, d.head().OccurredAt))
	free := e.Provider == fixedProvider
	switch {
	case !p.allows(q, d, e, !p.life.Budget.None()):
		if q.Provider != "" || s.requestedAt.After(p.since(d.head().OccurredAt)) {
			return "", "a person asked for another provider, or for none any more, perhaps after the lease was granted"
		}
		return "it is none that might be asked: " + p.standing(q), ""
	case !free && p.life.Budget.TokensSession > 0 && s.tokens >= p.life.Budget.TokensSession:
		return fmt.Sprintf("its session had used %d tokens of %s", s.tokens, policy.LimitTokensSession), ""
	case !free && p.life.Budget.TokensDay > 0 && p.usedBefore(d.head().OccurredAt) >= p.life.Budget.TokensDay:
		return "", "when the day began for a budget is not on record"
	case !p.allows(q, d, e, false):
		return "", "whether a budget kept the turn from those before its provider is not on record"
	}
	return "", ""
}

// since is when the lease of a turn that begins at now may have been granted at the earliest.
func (p *prover) since(now time.Time) time.Time {
	return now.Add(-p.life.TurnTimeout - provider.HangGrace)
}

// allows reports whether the candidates of q lead to the provider of a turn, at some moment at which its lease may have been
// granted. Whether the provider itself was paused is looked at beside. broke says that no candidate may be asked which costs
// something.
func (p *prover) allows(q provider.Requirement, d *decision, e events.TurnStarted, broke bool) bool {
	now := d.head().OccurredAt
	since := p.since(now)
	choose := func(closed func(name string, c *circuit) bool) (provider.Lease, bool) {
		states := map[string]*provider.State{}
		for _, name := range p.life.routes.Names() {
			states[name] = &provider.State{}
			if name != e.Provider && closed(name, p.circuit(name)) {
				states[name].Pause = policy.Pause{Class: events.FailServer, Probe: 1, Until: now.Add(time.Hour)}
			}
		}
		l, b := provider.Providers{Routes: p.life.routes, States: states}.Choose(provider.Request{Requirement: q}, now)
		return l, !b.Closed
	}
	l, ok := choose(func(name string, c *circuit) bool { return c.mayHaveBlocked(since) || broke && name != fixedProvider })
	if ok && l.Candidate.Provider == e.Provider && (len(e.Instead) == 0 || slices.Equal(l.Instead, e.Instead)) {
		return true
	}
	l, ok = choose(func(_ string, c *circuit) bool {
		return c.RuledAt.Before(since) && c.keepsBack(beginning{at: now, early: true})
	})
	return ok && l.Trivial != nil && l.Trivial.Provider == e.Provider && len(e.Instead) == 0
}

// mayHaveBlocked reports whether c may have kept a turn back at some moment since. A half open circuit does so while it is probed,
// and a probe whose turn has not begun is in no log.
func (c *circuit) mayHaveBlocked(since time.Time) bool {
	return c.doubt != "" || c.Pause.Paused() || c.RulingPosition > 0 && c.RuledAt.After(since)
}

// standing says how the candidates of q stand.
func (p *prover) standing(q provider.Requirement) string {
	var all []string
	for _, c := range p.life.routes.Candidates(q) {
		how := "free"
		if p.circuit(c.Provider).Pause.Paused() {
			how = "paused"
		}
		all = append(all, c.Provider+" "+how)
	}
	return strings.Join(all, ", ")
}

// longestDay is how long a local day can be: one on which clocks are set back.
const longestDay = 25 * time.Hour

// turnUsage is what a turn used.
type turnUsage struct {
	at     time.Time
	tokens int64
}

// use takes what a turn of s used.
func (p *prover) use(s *provedSession, r events.Record, u events.Usage) {
	s.tokens += u.Input + u.Output
	old := r.OccurredAt.Add(-longestDay)
	for len(p.used) > 0 && p.used[0].at.Before(old) {
		p.used = p.used[1:]
	}
	p.used = append(p.used, turnUsage{r.OccurredAt, u.Input + u.Output})
}

// usedBefore is what turns had used within the longest day before now when the lease of a turn that begins now may have been
// granted at the earliest: those that ended since count for it no more than for a turn beside it.
func (p *prover) usedBefore(now time.Time) (tokens int64) {
	from, to := now.Add(-longestDay), p.since(now)
	for _, u := range p.used {
		if !u.at.Before(from) && u.at.Before(to) {
			tokens += u.tokens
		}
	}
	return tokens
}
