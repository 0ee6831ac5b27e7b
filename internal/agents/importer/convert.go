package importer

import (
	"cmp"
	"strings"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// maxList is how many texts a list may have; together they have at most agents.MaxText bytes, as one text has.
const maxList = 1000

// Converter makes captures of entries. It is not safe for concurrent use.
type Converter struct {
	source  string
	redact  agents.Redact
	session events.SessionID
	prompts map[int]int // the numbers of the other memory's prompts, and ours
	asked   int
}

// NewConverter returns one for the memory called source. Redact takes secrets out; nil: nothing does.
func NewConverter(source string, redact agents.Redact) *Converter {
	return &Converter{source: source, redact: redact}
}

// Converted is what an entry is to be recorded as.
type Converted struct {
	Captures  []session.Capture
	LeftOut   string // why there are none; empty: there are
	Shortened bool   // not all of its texts, or of its lists, is in them
}

// Convert returns what e is to be recorded as. Captured says that hooks or transcripts have captured e's session: then
// neither its life nor its prompts are taken. The error is ErrBad.
func (c *Converter) Convert(e *Entry, captured bool) (out Converted, err error) {
	if err := e.check(); err != nil {
		return out, err
	}
	t := &texts{Texts: agents.NewTexts(c.redact)}
	o := OriginOf(e)
	if id := o.Session(); id != c.session {
		c.session, c.prompts, c.asked = id, map[int]int{}, 0
	}
	if captured && (e.Kind == Session || e.Kind == Prompt) {
		return Converted{LeftOut: ReasonCaptured}, nil
	}
	made, reason := c.event(t, o, e, captured)
	if made == nil {
		return Converted{LeftOut: reason}, nil
	}
	return Converted{Captures: []session.Capture{c.capture(o, e, made)}, Shortened: t.shortened || t.Cut()}, nil
}

// OriginOf is where e comes from. Its secrets are still in it, as in those that hooks report.
func OriginOf(e *Entry) session.Origin {
	t := agents.NewTexts(nil)
	return session.Origin{
		Agent: t.Name(e.Agent), AgentSession: t.Name(e.AgentSession), Project: t.Name(e.Project), Cwd: t.Path(e.Folder),
	}
}

func (c *Converter) capture(o session.Origin, e *Entry, made events.Event) session.Capture {
	key := keyOf(c.source, o, e)
	return session.Capture{ID: idOf(record, e.At, key), Key: key, At: e.At, Origin: o, Event: made}
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
func (c *Converter) event(t *texts, o session.Origin, e *Entry, captured bool) (made events.Event, reason string) {
	serves := c.prompts[e.Number]
	if captured {
		serves = 0
	}
	switch e.Kind {
	case Session: // its end comes last, by End
		return events.SessionOpened{Source: "import"}, ""
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

func (c *Converter) prompt(t *texts, e *Entry) (events.Event, string) {
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

func toolUsed(t *texts, e *Entry) events.ToolUsed {
	return t.Use(events.ToolUsed{
		ToolUseID: agents.NewTexts(nil).Name(e.Name), Tool: t.Name(e.Tool), Cwd: t.Path(e.Cwd), SubagentID: t.Name(e.SubagentID),
		SubagentType: t.Name(e.SubagentType), Unobserved: events.UnobservedImported,
	}, e.Input, e.Output)
}

func (c *Converter) observation(t *texts, e *Entry) events.ObservationParsed {
	o := events.ObservationParsed{
		Type: t.Name(e.Type), Title: t.prose(e.Title), Subtitle: t.prose(e.Subtitle), Narrative: t.prose(e.Narrative),
		Facts: t.list(e.Facts, t.prose), Concepts: t.list(e.Concepts, t.prose), FilesUnverified: t.paths(e.Files), Source: c.source,
	}
	o.Type = cmp.Or(o.Type, events.TypeUnknown)
	o.Claims = claims(o.Texts())
	return o
}

func blankObservation(o events.ObservationParsed) bool {
	return o.Title == "" && o.Narrative == "" && len(o.Facts) == 0 && len(o.Concepts) == 0
}

func (c *Converter) summary(t *texts, e *Entry) events.SummaryParsed {
	s := events.SummaryParsed{
		Request: t.prose(e.Request), Investigated: t.prose(e.Investigated), Learned: t.prose(e.Learned),
		Completed: t.prose(e.Completed), NextSteps: t.prose(e.NextSteps), Notes: t.prose(e.Notes), Source: c.source,
	}
	s.Claims = claims(s.Texts())
	return s
}

func blankSummary(s events.SummaryParsed) bool {
	return s.Request == "" && s.Investigated == "" && s.Learned == "" && s.Completed == "" && s.NextSteps == ""
}

// claims are the commits that texts name, of which nothing is known yet.
func claims(texts []string) (all []events.Claim) {
	for _, hash := range evidence.Claims(strings.Join(texts, "\n")) {
		all = append(all, events.Claim{Kind: "commit", Value: hash, Verdict: events.Unknown, Evidence: "imported: not looked for yet"})
	}
	return all
}

// texts cleans the texts of one entry.
type texts struct {
	*agents.Texts
	shortened bool // a list had more than is kept
}

func (t *texts) prose(s string) string {
	s, _ = t.Prose(s)
	return strings.TrimSpace(s)
}

// list cleans a list, drops what is blank, and cuts it where it is too long.
func (t *texts) list(list []string, clean func(string) string) (out []string) {
	size := 0
	for _, s := range list {
		if s = clean(s); s == "" {
			continue
		}
		if size += len(s); len(out) == maxList || size > agents.MaxText {
			t.shortened = true
			return out
		}
		out = append(out, s)
	}
	return out
}

// paths is list for files; each is named once.
func (t *texts) paths(list []string) []string {
	seen := map[string]bool{}
	return t.list(list, func(s string) string {
		if s = t.Path(strings.TrimSpace(s)); seen[s] {
			return ""
		}
		seen[s] = true
		return s
	})
}
