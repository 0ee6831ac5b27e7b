package replay

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// maxShown is how many bytes of an event a difference shows.
const maxShown = 2000

// distance is how far after the id of a decision's first event another id lies; same is whether they are of one
// decision at all. See session.Decide: the first event has the id of the command, the others count on from it.
func distance(first, id events.ID) (n uint32, same bool) {
	n = binary.BigEndian.Uint32(id[12:]) - binary.BigEndian.Uint32(first[12:])
	return n, bytes.Equal(first[:12], id[:12])
}

// compare takes the decision by each of cmds, until one leads to what d records. It counts the decision and what
// differs, and reports whether nothing does.
func (p *prover) compare(s *provedSession, d *decision, name string, cmds []session.Command) bool {
	var diffs []Difference
	for _, rules := range p.versions(p.rules(s, d)) {
		for _, cmd := range cmds {
			found := d.decide(s, rules, cmd)
			if len(found) == 0 {
				p.account(name, "")
				return true
			}
			if diffs == nil || len(found) < len(diffs) {
				diffs = found
			}
		}
	}
	if len(cmds) == 0 {
		diffs = d.align(nil)
	}
	why := p.why(s, d, name, cmds)
	for i := range diffs {
		diffs[i].Why = why
	}
	p.account(name, p.doubt(s, d, name, cmds), diffs...)
	return false
}

// versions are the rules by which this life may have decided: of one that recorded no version, those of before it was recorded.
func (p *prover) versions(r session.Rules) []session.Rules {
	if p.life.began == 0 || r.Version != 0 {
		return []session.Rules{r}
	}
	first := r
	first.Version, r.Version = session.RulesFirst, session.RulesTalk
	return []session.Rules{first, r}
}

// account counts a decision, and lists in what it differs. Where there is a doubt, that is why it is no proof of anything.
func (p *prover) account(name, doubt string, diffs ...Difference) {
	doubt = cmp.Or(doubt, p.gap)
	c := p.counts[name]
	c.Checked++
	switch {
	case len(diffs) == 0:
		c.Equal++
	case doubt != "":
		c.Unproven++
	}
	p.counts[name] = c
	for _, f := range diffs {
		if doubt == "" {
			p.differ(name, f)
			continue
		}
		f.Decision, f.Why = name, doubt
		list(&p.proof.Unproven, &p.proof.MoreUnproven, f)
	}
}

func (p *prover) differ(name string, f Difference) {
	f.Decision = name
	if p.gap != "" {
		f.Why = p.gap
		list(&p.proof.Unproven, &p.proof.MoreUnproven, f)
		return
	}
	list(&p.proof.Differences, &p.proof.More, f)
}

// doubt says why a decision that cannot be found again is no proof of anything; empty: it is.
func (p *prover) doubt(s *provedSession, d *decision, name string, cmds []session.Command) string {
	switch {
	case s.doubt != "":
		return s.doubt
	case d.erased:
		return "a payload of the decision is erased"
	case name == ProvedAnswer && p.changeless(s, d, cmds):
		return "whether a fresh observer would have changed the provider's answers is not on record"
	}
	return ""
}

// changeless reports whether d is explained by a provider whose answers no fresh generation changes: what a provider
// takes at once is not on record, but a generation that an output earned would tell.
func (p *prover) changeless(s *provedSession, d *decision, cmds []session.Command) bool {
	rules := p.rules(s, d)
	if rules.Outputs == nil || p.circuit(s.provider).refreshed {
		return false
	}
	rules.Batch.Fixed = true
	return len(d.decide(s, rules, cmds[0])) == 0
}

// why says what is known of the reason for a difference.
func (p *prover) why(s *provedSession, d *decision, name string, cmds []session.Command) string {
	if name == ProvedUnexplained {
		return "no decision leads to this event alone"
	}
	if limits := d.limits(); limits != nil && p.life.known && len(cmds) == 1 {
		rules := p.rules(s, d)
		setLimits(&rules, *limits)
		if len(d.decide(s, rules, cmds[0])) == 0 {
			return "the limits recorded are not those of that life's settings"
		}
	}
	return p.life.why()
}

// decide returns what differs between d and what cmd leads to.
func (d *decision) decide(s *provedSession, rules session.Rules, cmd session.Command) []Difference {
	drafts, err := session.Decide(&s.state, rules, cmd)
	if err != nil {
		return []Difference{d.differenceAt(0, d.eventText(0), "refused: "+err.Error(), "")}
	}
	return d.align(drafts)
}

// align compares the events of d with drafts of the same ids.
func (d *decision) align(drafts []events.Draft) []Difference {
	var out []Difference
	first := d.head().ID
	i := 0
	for _, draft := range drafts {
		n, _ := distance(first, draft.ID)
		for ; i < len(d.records) && d.before(i, n); i++ {
			out = append(out, d.differenceAt(i, d.eventText(i), "", ""))
		}
		if i == len(d.records) || d.records[i].ID != draft.ID {
			missing := d.differenceAt(0, "", shown(draft.Event), "")
			missing.Kind = events.KindOf(draft.Event)
			out = append(out, missing)
			continue
		}
		if recorded, derived, same := d.same(i, draft); !same {
			out = append(out, d.differenceAt(i, recorded, derived, ""))
		}
		i++
	}
	for ; i < len(d.records); i++ {
		out = append(out, d.differenceAt(i, d.eventText(i), "", ""))
	}
	return out
}

// before reports whether event i of d comes before the one n after its head.
func (d *decision) before(i int, n uint32) bool {
	at, _ := distance(d.head().ID, d.records[i].ID)
	return at < n
}

func (d *decision) differenceAt(i int, recorded, derived, why string) Difference {
	r := d.records[i]
	return Difference{Position: r.Position, Stream: r.Stream, Kind: r.Kind, Recorded: recorded, Derived: derived, Why: why}
}

func (d *decision) eventText(i int) string {
	if d.events[i] == nil {
		return "erased"
	}
	return shown(d.events[i])
}

// envelope is what a draft says beside its event.
type envelope struct {
	Kind        events.Kind `json:"kind"`
	OccurredAt  time.Time   `json:"occurred_at"`
	Causation   events.ID   `json:"causation,omitzero"`
	Correlation events.ID   `json:"correlation,omitzero"`
	Unobserved  bool        `json:"unobserved,omitempty"`
}

// same compares event i of d with a draft, and shows what differs: the event, or what stands around it. An erased
// payload is not compared.
func (d *decision) same(i int, draft events.Draft) (recorded, derived string, same bool) {
	r, e := d.records[i], d.events[i]
	kind := events.KindOf(draft.Event)
	if kind == r.Kind && e != nil && !equal(e, draft.Event) || kind != r.Kind {
		return d.eventText(i), shown(draft.Event), false
	}
	a := envelope{r.Kind, r.OccurredAt.UTC(), r.Causation, r.Correlation, r.Unobserved}
	b := envelope{kind, draft.OccurredAt.UTC(), draft.Causation, draft.Correlation, draft.Unobserved}
	if a == b {
		return "", "", true
	}
	return shown(a), shown(b), false
}

// equal compares events by what they say: two times are equal that are the same instant.
func equal(a, b events.Event) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// shown is v as JSON for people, not too long.
func shown(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	if len(text) > maxShown {
		return strings.ToValidUTF8(string(text[:maxShown]), "") + "..."
	}
	return string(text)
}
