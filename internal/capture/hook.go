package capture

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/panics"
	"github.com/cmemd/cmemd/internal/refusal"
)

// ErrBodyCut is a body that ended, or stopped coming, before it was whole.
var ErrBodyCut = refusal.At("", "the body ends before it is whole")

// DeliveryField and OccurredField are the headers that a posted payload has its id and time in: a refusal names them.
const (
	DeliveryField = "Cmemd-Delivery"    // a UUID, the same when the payload comes again
	OccurredField = "Cmemd-Occurred-At" // RFC 3339, when the hook was called
)

// Posted is one payload of a hook as it came.
type Posted struct {
	Agent      string
	Delivery   string    // DeliveryField; empty: it gets an id
	OccurredAt string    // OccurredField; empty: it was called when it came
	Came       time.Time // when
	Body       []byte    // is not kept
}

// Accepted is a delivery that is on disk, or that there was nothing to record of.
type Accepted struct {
	Delivery  events.ID
	At        time.Time // when the hook was called
	Agent     agents.Agent
	Report    agents.Report
	Duplicate bool

	HiddenBy    string // the ignore file for which nothing of it is recorded; empty: none hides it
	HiddenStart bool   // it is the start of such a session
}

// delivery is one payload on its way into the log, posted or from the spool. Its id and time were checked.
type delivery struct {
	spool.Entry
	id events.ID
}

// Post records what a posted payload reports. It is on disk when Post returns without an error. What is refused for good
// is put into the spool's bad folder; what is refused for now its hook keeps.
func (p *Pipeline) Post(ctx context.Context, in Posted) (Accepted, error) {
	d, err := in.delivery()
	var a Accepted
	if err == nil {
		a, err = p.take(ctx, d)
	}
	if err != nil {
		p.deadLetter(d, err)
	}
	return a, err
}

// delivery is what was posted, with an id in any case. No hook is called in the future: a clock that says so is wrong, and
// the time of arrival stands.
func (in Posted) delivery() (delivery, error) {
	id, err := parseDelivery(in.Delivery)
	if id == (events.ID{}) {
		id = uuid.Must(uuid.NewV7())
	}
	d := delivery{spool.Entry{Agent: in.Agent, OccurredAt: in.Came, Body: in.Body}, id}
	if err != nil {
		return d, err
	}
	at, err := parseOccurred(in.OccurredAt)
	if !at.IsZero() && at.Before(d.OccurredAt) {
		d.OccurredAt = at
	}
	return d, err
}

// parseDelivery reads a delivery id; empty is none.
func parseDelivery(s string) (events.ID, error) {
	if s == "" {
		return events.ID{}, nil
	}
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 || id == (events.ID{}) {
		return events.ID{}, refusal.At(DeliveryField, "is no UUID in its usual form of 36 characters")
	}
	return id, nil
}

// firstOccurred is the earliest time that is taken: before it there were no agents, and near 1678 no nanoseconds.
const firstOccurred = 2000

// parseOccurred reads when a hook was called; empty is the zero time.
func parseOccurred(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, refusal.At(OccurredField, "is no time in the form of RFC 3339")
	}
	if at = at.UTC(); at.Year() < firstOccurred || at.Year() > 2200 {
		return time.Time{}, refusal.At(OccurredField, "the year %d is out of range", at.Year())
	}
	return at, nil
}

// take decodes a delivery and puts what it reports to its session. It returns when that is on disk. A panic on the way
// is an error.
func (p *Pipeline) take(ctx context.Context, d delivery) (a Accepted, err error) {
	defer panics.Catch(&err, p.logger, "hook of "+d.Agent)
	if a, err = p.decode(ctx, d); err != nil || len(a.Report.Captures) == 0 {
		return a, err
	}
	if err := p.drainBefore(ctx, a.Report.Captures); err != nil {
		return a, err
	}
	if err := p.recordRemarks(ctx, &a); err != nil {
		return a, err
	}
	receipt, err := p.cfg.Sink.Do(ctx, a.Report.Origin.Session(), commands(a.Report.Captures)...)
	if err != nil {
		return a, fmt.Errorf("capture: hook: %w", err)
	}
	if a.Duplicate = receipt.Duplicate; a.Duplicate {
		p.Counts.Duplicates.Add(1)
	} else {
		p.Counts.Recorded.Add(1)
	}
	return a, nil
}

// stopWait is how long an end waits for what came before it: less than an ordinary hook waits for its answer.
const stopWait = 200 * time.Millisecond

// drainBefore takes what waits in the spool to the log before the end of an answer or of a session: without the work that it
// ends, such an end leads to no summary. It returns ErrSpoolWaits where that is not done within stopWait: the end's hook keeps it
// then, behind that work. Files that are stuck are not waited for.
func (p *Pipeline) drainBefore(ctx context.Context, captures []session.Capture) error {
	if p.cfg.Spool == nil || !slices.ContainsFunc(captures, isEnd) {
		return nil
	}
	names, err := p.spool.Names()
	if err != nil || p.stuck.others(names) == 0 {
		return nil // a spool that cannot be read has nothing to wait for
	}
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	return p.pass(ctx)
}

// isEnd reports whether an answer or a session ends.
func isEnd(c session.Capture) bool {
	kind := events.KindOf(c.Event)
	return kind == events.KindAgentStopped || kind == events.KindSessionClosed
}

// decode says what a delivery reports, with the facts of its project and without secrets.
func (p *Pipeline) decode(ctx context.Context, d delivery) (a Accepted, err error) {
	a.Delivery, a.At = d.id, d.OccurredAt
	if a.Agent, err = agents.ByName(d.Agent); err != nil {
		return a, err
	}
	meta := agents.Meta{Delivery: d.id, OccurredAt: d.OccurredAt, Cut: d.Cut, Redact: p.cfg.Secrets, Redactions: d.Redactions}
	if a.Report, err = a.Agent.Decode(d.Body, meta); err != nil {
		return a, err
	}
	p.noteReported(d.Agent, d.OccurredAt)
	a.Report = withoutPlaceholder(a.Report)
	var start bool
	if a.Report, a.HiddenBy, start = p.withoutHidden(ctx, d, a.Report); len(a.Report.Captures) == 0 {
		a.HiddenStart = start && a.HiddenBy != ""
		p.Counts.Ignored.Add(1)
		return a, nil
	}
	age := factsAge
	if StartsSession(a.Report.Wants) {
		age = factsFresh
	}
	a.Report.SetOrigin(p.origin(ctx, a.Report.Origin, age, false))
	p.called(a.Report.Origin, d.OccurredAt)
	a.Report.Captures = p.withoutEchoes(ctx, a.Report.Origin.Session(), a.Report.Captures)
	if len(a.Report.Captures) == 0 {
		p.Counts.Ignored.Add(1)
	}
	return a, nil
}

// endsWork reports whether an accepted report ends the agent's work, or has it go on with another context.
func (a Accepted) endsWork() bool {
	return slices.ContainsFunc(a.Report.Captures, func(c session.Capture) bool {
		return isEnd(c) || events.KindOf(c.Event) == events.KindContextCompacted
	})
}

// recordRemarks puts on record what a session said between tool calls before the report of an end that is put there next, and cuts it
// out of that end: Gemini CLI's hook gives the whole answer there, of which a stop has the last words.
func (p *Pipeline) recordRemarks(ctx context.Context, a *Accepted) error {
	if !a.endsWork() || !filepath.IsAbs(a.Report.Origin.Transcript) {
		return nil
	}
	said, err := p.recordSaid(ctx, a.Report.Origin, a.At)
	if agents.SharesKeys(a.Report.Origin.Agent) {
		return err
	}
	for i, c := range a.Report.Captures {
		if e, ok := c.Event.(events.AgentStopped); ok {
			e.LastMessage = lastWords(e.LastMessage, said)
			a.Report.Captures[i].Event = e
		}
	}
	return err
}

// lastWords is what stands in an answer behind the last of the texts that it begins with; all of it where it does not, or where nothing
// stands there.
func lastWords(answer string, said []string) string {
	for i := range said {
		rest, begins := answer, true
		for _, text := range said[i:] {
			if rest, begins = strings.CutPrefix(strings.TrimSpace(rest), strings.TrimSpace(text)); !begins {
				break
			}
		}
		if rest = strings.TrimSpace(rest); begins && rest != "" {
			return rest
		}
	}
	return answer
}

// withoutPlaceholder is a report from no folder and without a transcript, if its hook withheld them: the session is where a later
// report says.
func withoutPlaceholder(r agents.Report) agents.Report {
	if r.Origin.Cwd != spool.WithheldFolder {
		return r
	}
	o := r.Origin
	o.Cwd, o.Transcript = "", ""
	r.SetOrigin(o)
	for i, c := range r.Captures {
		if t, ok := c.Event.(events.ToolUsed); ok && t.Cwd == spool.WithheldFolder {
			t.Cwd = ""
			r.Captures[i].Event = t
		}
	}
	return r
}

// StartsSession reports whether memory is wanted because a session starts, which records where.
func StartsSession(w agents.Want) bool {
	return w != agents.WantNone && w != agents.WantPrompt && w != agents.WantFile
}
