package turn

import (
	"cmp"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// View keeps every turn: what it was asked, what it settled and cost, and what came of it.
type View struct{}

func (View) Name() string        { return "turns" }
func (View) Reads() engine.Reads { return engine.Reads{Others: true} }

func table() engine.Table[Turn] { return engine.Table[Turn]{Name: "rows", Ordered: true} }

func (View) Layout() engine.Layout {
	return engine.Layout{Version: 3, Tables: []engine.TableSpec{table().Spec(engine.ShowID)}}
}

func (View) Fold(x *engine.Tx) func(*engine.Record) { return NewFold[Turn](x, table(), nil).Apply }

// Turn is one request to the observer and what came of it.
type Turn struct {
	ID          events.ID         `cbor:"1,keyasint,omitzero" json:"turn"`
	Session     events.SessionID  `cbor:"2,keyasint,omitzero" json:"session"`
	Kind        events.TurnKind   `cbor:"3,keyasint,omitempty" json:"kind"`
	Generation  int               `cbor:"4,keyasint,omitempty" json:"generation"`
	Provider    string            `cbor:"5,keyasint,omitempty" json:"provider"`
	Model       string            `cbor:"6,keyasint,omitempty" json:"model,omitempty"`
	Settles     []events.Position `cbor:"7,keyasint,omitempty" json:"settles"`
	Reads       []events.Position `cbor:"8,keyasint,omitempty" json:"reads,omitempty"`
	PromptBytes int               `cbor:"9,keyasint,omitempty" json:"prompt_bytes"`
	Attempt     int               `cbor:"10,keyasint,omitempty" json:"attempt"`
	Probe       bool              `cbor:"11,keyasint,omitempty" json:"probe,omitempty"`
	Prompt      int               `cbor:"12,keyasint,omitempty" json:"prompt,omitempty"`

	Started   events.Position `cbor:"13,keyasint,omitempty" json:"started"`
	StartedAt time.Time       `cbor:"14,keyasint,omitzero" json:"started_at"`
	Ended     events.Position `cbor:"15,keyasint,omitempty" json:"ended,omitempty"` // TurnReceived or TurnFailed; 0: running
	EndedAt   time.Time       `cbor:"16,keyasint,omitzero" json:"ended_at,omitzero"`
	Result    Result          `cbor:"17,keyasint,omitempty" json:"result"`

	Form       events.Form  `cbor:"18,keyasint,omitempty" json:"form,omitempty"`
	StopReason string       `cbor:"19,keyasint,omitempty" json:"stop_reason,omitempty"`
	Usage      events.Usage `cbor:"20,keyasint,omitzero" json:"usage"`
	LatencyMS  int64        `cbor:"21,keyasint,omitempty" json:"latency_ms,omitempty"`

	Class   string              `cbor:"22,keyasint,omitempty" json:"class,omitempty"`  // of a dropped output
	Reason  string              `cbor:"23,keyasint,omitempty" json:"reason,omitempty"` // why it was skipped or dropped
	Stated  events.Output       `cbor:"24,keyasint,omitzero" json:"stated,omitzero"`   // the model's own reason to skip
	Preview events.Output       `cbor:"25,keyasint,omitzero" json:"preview,omitzero"`  // of a dropped output
	Failure events.FailureClass `cbor:"26,keyasint,omitempty" json:"failure,omitempty"`
	Status  int                 `cbor:"27,keyasint,omitempty" json:"status,omitempty"`
	Message string              `cbor:"28,keyasint,omitempty" json:"message,omitempty"`

	Rows   []events.ID       `cbor:"29,keyasint,omitempty" json:"rows,omitempty"` // observations and summaries it led to
	RowsAt []events.Position `cbor:"30,keyasint,omitempty" json:"rows_at,omitempty"`

	Instead  []string `cbor:"31,keyasint,omitempty" json:"instead,omitempty"`  // providers before it that were passed over
	Answered string   `cbor:"32,keyasint,omitempty" json:"answered,omitempty"` // the model that answered, where it is not Model
	Cost     float64  `cbor:"33,keyasint,omitempty" json:"cost,omitempty"`     // US dollars, as the provider says; 0: it did not
	Calls    int      `cbor:"34,keyasint,omitempty" json:"calls,omitempty"`    // requests sent; 0: not counted

	CostStated bool         `cbor:"35,keyasint,omitempty" json:"told,omitempty"`   // the provider stated Cost, also where it is 0
	Unstated   events.Usage `cbor:"36,keyasint,omitzero" json:"unstated,omitzero"` // of Usage, that of requests which Cost says nothing of
	Sent       int64        `cbor:"37,keyasint,omitempty" json:"sent,omitempty"`   // bytes of the questions as they went out; 0: not counted, or nothing did
	Log        events.LogID `cbor:"39,keyasint,omitzero" json:"log,omitzero"`      // whose turn it is; zero: there is one log
	Restated   bool         `cbor:"38,keyasint,omitempty" json:"-"`                // its end was forgotten, and its cost is what that MemoryForgotten states
}

// Bill returns what the turn cost.
func (t Turn) Bill() events.Bill {
	return events.Bill{
		Usage: t.Usage, Model: t.Answered, Cost: t.Cost, CostStated: t.CostStated, Uncosted: t.Unstated, Calls: t.Calls, SentBytes: t.Sent,
	}
}

// pay takes over what the turn cost.
func (t *Turn) pay(b events.Bill) {
	t.Usage, t.Answered, t.Cost, t.CostStated, t.Unstated, t.Calls, t.Sent = b.Usage, b.Model, b.Cost, b.CostStated, b.Uncosted, b.Calls, b.SentBytes
}

// Begin takes over what r, a TurnStarted, says.
func (t *Turn) Begin(r *engine.Record, e events.TurnStarted) {
	*t = Turn{
		ID: engine.TurnOf(r, e.Turn), Session: r.Session, Kind: e.TurnKind, Generation: e.Generation, Provider: e.Provider,
		Model: e.Model, Settles: e.Settles, Reads: e.Reads, PromptBytes: e.PromptBytes, Attempt: e.Attempt,
		Probe: e.Probe, Prompt: e.Prompt, Started: r.Position, StartedAt: r.OccurredAt, Result: Running,
		Instead: e.Instead, Log: r.Home.Log,
	}
}

// Evolve takes over what r says of the turn's end, or of what came of it.
func (t *Turn) Evolve(r *engine.Record) {
	e, _ := engine.PayloadOf[events.Event](r)
	t.ID, t.Session, t.Log = engine.TurnOf(r, engine.TurnSaid(e)), r.Session, r.Home.Log
	if r.Kind == events.KindTurnReceived || r.Kind == events.KindTurnFailed {
		t.Ended, t.EndedAt = r.Position, r.OccurredAt
	}
	t.Result = cmp.Or(ResultOf(r.Kind), t.Result)
	t.describe(r, e)
}

// describe takes over what r's payload says; e is nil if it was erased.
func (t *Turn) describe(r *engine.Record, e events.Event) {
	switch e := e.(type) {
	case events.TurnReceived:
		t.Form, t.StopReason, t.LatencyMS = e.Form, e.StopReason, e.LatencyMS
		t.pay(e.Bill())
	case events.TurnFailed:
		t.Failure, t.Status, t.Message = e.Class, e.Status, e.Message
		t.pay(e.Bill())
	case events.OutputDropped:
		t.Class, t.Reason, t.Preview = e.Class, e.Reason, e.Preview
	case events.OutputSkipped:
		t.Reason, t.Stated = e.Reason, e.Stated
	case events.ObservationParsed:
		t.addRow(r.Position, e.Observation)
	case events.SummaryParsed:
		t.addRow(r.Position, e.Summary)
	}
}

func (t *Turn) addRow(at events.Position, id events.ID) {
	t.Rows = append(slices.Clip(t.Rows), id)
	t.RowsAt = append(slices.Clip(t.RowsAt), at)
}

// Forget takes back what the payload of the record of h had said, but for what s says of it where it is stated.
func (t *Turn) Forget(h events.Header, s events.TurnSpent, stated bool) {
	switch h.Kind {
	case events.KindTurnReceived:
		t.Form, t.StopReason, t.LatencyMS = "", "", 0
		t.restate(s, stated)
	case events.KindTurnFailed:
		t.Status, t.Message = 0, ""
		t.restate(s, stated)
	case events.KindOutputDropped:
		t.Class, t.Reason, t.Preview = "", "", events.Output{}
	case events.KindOutputSkipped:
		t.Reason, t.Stated = "", events.Output{}
	case events.KindObservationParsed, events.KindSummaryParsed:
		t.removeRow(h.Position)
	}
}

// restate has s alone say what the turn cost, and of one that failed its class. Where nothing is stated, what was stated by an
// earlier MemoryForgotten stays.
func (t *Turn) restate(s events.TurnSpent, stated bool) {
	if stated || !t.Restated {
		t.Failure, t.Restated = s.Class, stated
		t.pay(s.Bill)
	}
}

func (t *Turn) removeRow(at events.Position) {
	i := slices.Index(t.RowsAt, at)
	if i < 0 {
		return
	}
	t.Rows = slices.Delete(slices.Clone(t.Rows), i, i+1)
	t.RowsAt = slices.Delete(slices.Clone(t.RowsAt), i, i+1)
}
