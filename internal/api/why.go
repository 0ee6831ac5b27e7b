package api

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/projections"
)

// Why is the chain behind a row: the turns that led to it, what they settled, what was asked, what was known before, and what
// became of it since.
type Why struct {
	Position   events.Position     `json:"position"`
	AsOf       events.Position     `json:"as_of,omitempty"` // as it was known then; 0: now
	Row        Row                 `json:"row"`
	Session    *Session            `json:"session,omitempty"`
	Turns      []WhyTurn           `json:"turns"`      // its own first; never null
	Attempts   []WhyAttempt        `json:"attempts"`   // other turns that were asked about the same inputs, oldest first; never null
	Prompts    []Row               `json:"prompts"`    // of the user, that those inputs served; never null
	Injections []Injection         `json:"injections"` // memory that the agent was given before, newest first; never null
	Verdicts   []Verdict           `json:"verdicts"`   // what ground truth says of its claims now; never null
	After      []WhyAfter          `json:"after"`      // what became of it since, oldest first; never null
	Replaced   *Row                `json:"replaced_by,omitempty"`
	RecordedAt time.Time           `json:"recorded_at"`         // when its claims were looked at first
	Older      []Row               `json:"older,omitempty"`     // rows whose place it took: their inputs were observed again
	Newer      []Row               `json:"newer,omitempty"`     // rows that took its own place so
	Forgotten  *MemoryForgottenRow `json:"forgotten,omitempty"` // nothing else is left of it
}

// MemoryForgottenRow is what is left of a row that was forgotten.
type MemoryForgottenRow struct {
	At       time.Time       `json:"at"`
	Position events.Position `json:"position"` // of the record that says so
	Cause    string          `json:"cause"`
	Records  int             `json:"records"` // that were forgotten with it, in one session
	Residue  events.Hash     `json:"residue"` // of what was erased: proof without words
}

// WhyTurn is one turn and the inputs that it settled or read.
type WhyTurn struct {
	Turn
	CostUSD *float64   `json:"cost_usd,omitempty"` // as prices are now; nil: not known
	Inputs  []WhyInput `json:"inputs"`             // the first hundred; never null
	More    int        `json:"more,omitempty"`     // inputs beyond those
}

// WhyAttempt is another turn over the same inputs.
type WhyAttempt struct {
	Turn
	CostUSD *float64 `json:"cost_usd,omitempty"`
	Later   bool     `json:"later,omitempty"` // it began after the turn that led to the row
}

// WhyAfter is one thing that happened to a row after it was recorded.
type WhyAfter = recall.WhyAfter

// WhyInput is one input of a turn as it is in the log.
type WhyInput struct {
	Position events.Position `json:"position"`
	Kind     events.Kind     `json:"kind"`
	At       time.Time       `json:"at"`
	Outcome  string          `json:"outcome,omitempty"` // of what it settled, as it is now
	Read     bool            `json:"read,omitempty"`    // the turn only read it
	Tool     string          `json:"tool,omitempty"`
	Failed   bool            `json:"failed,omitempty"`
	Preview  string          `json:"preview,omitempty"`
	Input    string          `json:"input,omitempty"`  // the beginning of what the tool was given
	Output   string          `json:"output,omitempty"` // the beginning of what it printed
	Erased   bool            `json:"erased,omitempty"` // what it said is gone
	Why      *recall.Erasure `json:"why_erased,omitempty"`
}

// Inputs is what a row was made of, as it was captured.
type Inputs = recall.Inputs

// WhyQuery asks for the chain behind a row, as it was known at a position, or a time; neither: now.
type WhyQuery struct {
	ID     string
	AsOf   events.Position
	AsOfAt time.Time // counts where AsOf is 0
}

// maxShownText is how much of a tool's input or output a chain shows, in bytes.
const maxShownText = 4 << 10

func (s *Server) getWhy(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r, "as_of")
	at, when := p.moment("as_of")
	if err := p.err(); err != nil {
		return err
	}
	ctx := r.Context()
	at, known, err := s.asOf(ctx, at, when)
	if err != nil {
		return err
	}
	if !known {
		return notFound("nothing had been recorded yet")
	}
	found, err := s.cfg.Recall.WhyAsOf(ctx, recall.WhyQuery{ID: r.PathValue("id"), AsOf: at})
	if err != nil {
		return err
	}
	out, err := s.why(ctx, found)
	if err != nil {
		return err
	}
	return writeJSON(w, out)
}

func (s *Server) why(ctx context.Context, found recall.Why) (Why, error) {
	out := Why{
		Position: found.Position, AsOf: found.AsOf, Row: found.Row, Session: found.Session, Turns: []WhyTurn{}, Prompts: []Row{},
		Injections: []Injection{}, Verdicts: list(found.Verdicts), Replaced: found.Replaced, After: list(found.After),
		RecordedAt: found.Recorded.RecordedAt, Older: found.Older, Newer: found.Newer, Attempts: []WhyAttempt{},
	}
	if found.Prompt != nil {
		out.Prompts = append(out.Prompts, *found.Prompt)
	}
	for _, in := range found.Injected {
		out.Injections = append(out.Injections, in.Injection)
	}
	for _, a := range found.Attempts {
		out.Attempts = append(out.Attempts, WhyAttempt{Turn: a.Turn, CostUSD: s.costOf(a.Turn), Later: a.Later})
	}
	for _, t := range found.Turns {
		turn, err := s.whyTurn(ctx, t)
		if err != nil {
			return out, err
		}
		out.Turns = append(out.Turns, turn)
	}
	var err error
	if found.Row.Forgotten {
		out.Forgotten, err = s.forgottenRow(ctx, found.Row)
	}
	return out, err
}

// forgottenRow reads what the record says by which a row was forgotten.
func (s *Server) forgottenRow(ctx context.Context, row Row) (*MemoryForgottenRow, error) {
	r, err := s.cfg.Log.Get(ctx, row.Position)
	if err != nil {
		return nil, err
	}
	e, err := r.Event()
	if err != nil {
		return nil, err
	}
	m, _ := e.(events.MemoryForgotten)
	return &MemoryForgottenRow{At: row.At, Position: row.Position, Cause: m.Cause, Records: len(m.Positions), Residue: m.Residue}, nil
}

// costOf is what a turn cost, as its provider states and by the list of prices; nil: not known.
func (s *Server) costOf(t Turn) *float64 {
	b := t.Bill()
	open := b.Open()
	if open == (events.Usage{}) {
		if !b.Stated() {
			return nil
		}
		return &b.Cost
	}
	usd, ok := projections.Price(s.cfg.Price).Of(t.Provider, cmp.Or(b.Model, t.Model), t.Model, open)
	if !ok {
		return nil
	}
	usd += b.Cost
	return &usd
}

// whyTurn adds what the turn only read.
func (s *Server) whyTurn(ctx context.Context, t recall.WhyTurn) (WhyTurn, error) {
	out := WhyTurn{Turn: t.Turn, CostUSD: s.costOf(t.Turn), Inputs: []WhyInput{}, More: t.More}
	for _, in := range t.Inputs {
		wi, err := s.whyInput(ctx, in.Position)
		if err != nil {
			return WhyTurn{}, err
		}
		wi.Outcome, wi.Why = string(in.Outcome), in.Why
		wi.Preview = strings.TrimPrefix(in.Preview, wi.Tool+" ")
		out.Inputs = append(out.Inputs, wi)
	}
	for _, at := range t.Reads[:min(len(t.Reads), maxReads)] {
		wi, err := s.whyInput(ctx, at)
		if err != nil {
			return WhyTurn{}, err
		}
		wi.Read = true
		out.Inputs = append(out.Inputs, wi)
	}
	out.More += max(0, len(t.Reads)-maxReads)
	return out, nil
}

// maxReads is how many of the records that a turn only read are shown.
const maxReads = 100

// whyInput says what the record at a position is.
func (s *Server) whyInput(ctx context.Context, at events.Position) (WhyInput, error) {
	r, err := s.cfg.Log.Get(ctx, at)
	if err != nil {
		return WhyInput{}, err
	}
	in := WhyInput{Position: at, Kind: r.Kind, At: r.OccurredAt, Erased: r.Erased}
	if r.Erased {
		return in, nil
	}
	e, err := r.Event()
	if err != nil {
		return WhyInput{}, err
	}
	switch e := e.(type) {
	case events.ToolUsed:
		in.Tool, in.Failed = e.Tool, e.Failed
		in.Input, in.Output = head(e.Input, maxShownText), head(e.Output, maxShownText)
	case events.AgentStopped:
		in.Preview = head(e.LastMessage, maxPreview)
	case events.ContextCompacted:
		in.Preview = head(e.Summary, maxPreview)
	case events.ObservationParsed:
		in.Preview = head(e.Title, maxPreview)
	case events.SummaryParsed:
		in.Preview = head(e.Request, maxPreview)
	}
	return in, nil
}

// getInputs returns what a row was made of, whole.
func (s *Server) getInputs(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r, "after", "limit")
	q := recall.InputsQuery{
		ID: r.PathValue("id"), After: p.position("after"), Limit: p.number("limit", recall.DefaultInputs, recall.MaxInputs),
	}
	if err := p.err(); err != nil {
		return err
	}
	found, err := s.cfg.Recall.Inputs(r.Context(), q)
	if err != nil {
		return err
	}
	return writeJSON(w, found)
}

// WhyAsOf is Why as it was known at an earlier moment. What was not recorded yet then is a *Problem with status 404.
func (c *Client) WhyAsOf(ctx context.Context, q WhyQuery) (Why, error) {
	v := newValues().time("as_of", q.AsOfAt).number("as_of", uint64(q.AsOf))
	return ask[Why](ctx, c, "GET", "/v1/why/"+url.PathEscape(q.ID), v.Values, nil)
}

// Inputs returns what a row was made of as it was captured: what the tools were given and what they printed. Next of one
// answer is after of the next; limit 0 means 50, at most 500.
func (c *Client) Inputs(ctx context.Context, id string, after events.Position, limit int) (Inputs, error) {
	v := newValues().number("after", uint64(after)).number("limit", uint64(max(limit, 0)))
	return ask[Inputs](ctx, c, "GET", "/v1/observations/"+url.PathEscape(id)+"/inputs", v.Values, nil)
}
