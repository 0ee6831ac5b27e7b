package importer

import (
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/evidence"
	"github.com/cmemd/cmemd/hooks"
	"github.com/cmemd/cmemd/session"
)

// Bounds of what one entry may hold beside its texts.
const (
	maxList = 100
	maxEach = 4 << 10 // bytes of a fact or a file
)

// Converter makes captures of entries. It is not safe for concurrent use.
type Converter struct {
	source  string
	redact  hooks.Redact
	session events.SessionID
	prompts map[int]int // the numbers of the other memory's prompts, and ours
	asked   int
}

// NewConverter returns one for the memory called source. Redact takes secrets out; nil: nothing does.
func NewConverter(source string, redact hooks.Redact) *Converter {
	return &Converter{source: source, redact: redact}
}

// Convert returns what e is to be recorded as; a reason says why it is nothing. Captured says that hooks or transcripts have
// captured e's session: then neither its life nor its prompts are taken. The error is ErrBad.
func (c *Converter) Convert(e *Entry, captured bool) (found []session.Capture, reason string, err error) {
	if err := e.check(); err != nil {
		return nil, "", err
	}
	t := hooks.NewTexts(c.redact)
	o := OriginOf(e)
	if id := o.Session(); id != c.session {
		c.session, c.prompts, c.asked = id, map[int]int{}, 0
	}
	if captured && (e.Kind == Session || e.Kind == Prompt) {
		return nil, ReasonCaptured, nil
	}
	if e.Kind == Session {
		return c.life(o, e), "", nil
	}
	made, reason := c.event(t, o, e, captured)
	if made == nil {
		return nil, reason, nil
	}
	return []session.Capture{c.capture(o, e, made)}, "", nil
}

// OriginOf is where e comes from. Its secrets are still in it, as in those that hooks report.
func OriginOf(e *Entry) session.Origin {
	t := hooks.NewTexts(nil)
	return session.Origin{
		Agent: t.Name(e.Agent), AgentSession: t.Name(e.AgentSession), Project: t.Name(e.Project), Cwd: t.Path(e.Folder),
	}
}

func (c *Converter) capture(o session.Origin, e *Entry, made events.Event) session.Capture {
	key := keyOf(c.source, o, e)
	return session.Capture{ID: idOf(record, e.At, key), Key: key, At: e.At, Origin: o, Event: made}
}

// life is a session's beginning. Its end comes last, by End.
func (c *Converter) life(o session.Origin, e *Entry) []session.Capture {
	return []session.Capture{c.capture(o, e, events.SessionOpened{Source: "import"})}
}

// End returns the end of the session of e, its session entry, if it has one: for behind all else of it.
func (c *Converter) End(e *Entry) (session.Capture, bool) {
	if e.Kind != Session || e.Ended.IsZero() || e.check() != nil {
		return session.Capture{}, false
	}
	end := *e
	end.Name, end.At = e.Name+" end", e.Ended
	if end.check() != nil {
		return session.Capture{}, false
	}
	return c.capture(OriginOf(e), &end, events.SessionClosed{Cause: "import"}), true
}

// event is what e says. A nil one says nothing, for the reason.
func (c *Converter) event(t *hooks.Texts, o session.Origin, e *Entry, captured bool) (made events.Event, reason string) {
	serves := c.prompts[e.Number]
	if captured {
		serves = 0
	}
	switch e.Kind {
	case Prompt:
		return c.prompt(t, e)
	case ToolUse:
		return toolUsed(t, e), ""
	case Observation:
		if got := c.observation(t, e); !blankObservation(got) {
			got.Observation, got.Prompt = idOf("row", e.At, keyOf(c.source, o, e)), serves
			return got, ""
		}
		return nil, ReasonEmpty
	case Summary:
		if got := c.summary(t, e); !blankSummary(got) {
			got.Summary, got.Prompt = idOf("row", e.At, keyOf(c.source, o, e)), serves
			return got, ""
		}
		return nil, ReasonEmpty
	}
	return nil, ReasonDamaged
}

func (c *Converter) prompt(t *hooks.Texts, e *Entry) (events.Event, string) {
	p, machine := t.Prompt(e.Text)
	switch {
	case machine:
		return nil, ReasonMachine
	case p.Text == "" && !p.Private:
		return nil, ReasonEmpty
	}
	c.asked++
	c.prompts[e.Number] = c.asked
	return p, ""
}

func toolUsed(t *hooks.Texts, e *Entry) events.ToolUsed {
	u := events.ToolUsed{
		ToolUseID: hooks.NewTexts(nil).Name(e.Name), Tool: t.Name(e.Tool), Cwd: t.Path(e.Cwd), SubagentID: t.Name(e.SubagentID),
		SubagentType: t.Name(e.SubagentType), Unobserved: events.UnobservedImported,
	}
	if t.Own(e.Tool, e.Input) {
		u.Unobserved, u.InputSize, u.OutputSize = "own", len(e.Input), len(e.Output)
		return u
	}
	u.Input, u.InputSize = t.Tool(e.Input)
	u.Output, u.OutputSize = t.Tool(e.Output)
	u.Redactions = t.Found()
	return u
}

func (c *Converter) observation(t *hooks.Texts, e *Entry) events.ObservationParsed {
	o := events.ObservationParsed{
		Type: t.Name(e.Type), Title: prose(t, e.Title), Subtitle: prose(t, e.Subtitle), Narrative: prose(t, e.Narrative),
		Facts: texts(t, e.Facts), Concepts: texts(t, e.Concepts), FilesUnverified: paths(t, e.Files), Source: c.source,
	}
	if o.Type == "" {
		o.Type = events.TypeUnknown
	}
	o.Claims = claims(o.Title, o.Subtitle, o.Narrative, strings.Join(o.Facts, "\n"))
	return o
}

func blankObservation(o events.ObservationParsed) bool {
	return o.Title == "" && o.Narrative == "" && len(o.Facts) == 0 && len(o.Concepts) == 0
}

func (c *Converter) summary(t *hooks.Texts, e *Entry) events.SummaryParsed {
	s := events.SummaryParsed{
		Request: prose(t, e.Request), Investigated: prose(t, e.Investigated), Learned: prose(t, e.Learned),
		Completed: prose(t, e.Completed), NextSteps: prose(t, e.NextSteps), Notes: prose(t, e.Notes), Source: c.source,
	}
	s.Claims = claims(s.Request, s.Investigated, s.Learned, s.Completed, s.NextSteps, s.Notes)
	return s
}

func blankSummary(s events.SummaryParsed) bool {
	return s.Request == "" && s.Investigated == "" && s.Learned == "" && s.Completed == "" && s.NextSteps == ""
}

// claims are the commits that texts name, of which nothing is known yet.
func claims(texts ...string) (all []events.Claim) {
	for _, hash := range evidence.Claims(strings.Join(texts, "\n")) {
		all = append(all, events.Claim{Kind: "commit", Value: hash, Verdict: events.Unknown, Evidence: "imported: not looked for yet"})
	}
	return all
}

func prose(t *hooks.Texts, s string) string {
	s, _ = t.Prose(s)
	return strings.TrimSpace(s)
}

// texts cleans a list and drops what is blank, too long or too much.
func texts(t *hooks.Texts, list []string) (out []string) {
	for _, s := range list {
		if s = prose(t, s); s != "" && len(s) <= maxEach && len(out) < maxList {
			out = append(out, s)
		}
	}
	return out
}

func paths(t *hooks.Texts, list []string) (out []string) {
	for _, s := range list {
		if s = t.Path(strings.TrimSpace(s)); s != "" && len(out) < maxList && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
