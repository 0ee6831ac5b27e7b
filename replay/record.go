package replay

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Wanted is what Record takes from a log.
type Wanted struct {
	Selection
	Inputs  bool    // what the turns were about, too: what agents did, with all it may hold
	Respawn Respawn // what is assumed of a new observer's opening
}

// Recording is a stretch of a log as a scenario, with what of it could not be had.
type Recording struct {
	Scenario *Scenario       `json:"scenario"`
	First    events.Position `json:"first"` // of the records that were read
	Last     events.Position `json:"last"`
	Began    time.Time       `json:"began,omitzero"` // what Scenario counts from; zero: no turn ended in the stretch
	Sessions int             `json:"sessions"`
	Gaps     []Gap           `json:"gaps"` // at most MaxListed
	More     int             `json:"more,omitempty"`
}

// Gap is something of a recording that is not there any more.
type Gap struct {
	Position events.Position `json:"position"`
	Kind     events.Kind     `json:"kind,omitempty"`
	Why      string          `json:"why"`
}

// Record takes a stretch of a log as a scenario: one event for every turn that ended in it, in the order of the log. A
// turn of a crashed observer, or one that a crash of the daemon interrupted, is an exit; one that an orderly stop
// interrupted is none. An input counts in the batch of the first event, exits apart, that settles it.
//
// The outputs of the observer are taken whole, as they are what a replay is about: they may tell of what they were
// asked about. What agents and users wrote is taken only where w.Inputs asks for it.
//
// Records must begin with the log's first one, or turns and inputs from before are not known; it stops reading at the
// end of the selection. It makes one pass, and keeps what is selected: the scenario, the inputs it settles by number, and
// where w.Inputs asks for them their contents. The error is that of the sequence, or of a payload that cannot be read;
// one that was erased is a gap.
func Record(records iter.Seq2[events.Record, error], w Wanted) (*Recording, error) {
	rec := recorder{wanted: w, counted: map[events.Position]struct{}{}, sessions: map[events.SessionID]string{}}
	rec.out.Scenario = &Scenario{Respawn: w.Respawn, Events: []Event{}}
	turns := turnReader{sel: w.Selection, turn: rec.turn}
	if w.Inputs {
		rec.contents = map[events.Position]json.RawMessage{}
		turns.input = rec.input
	}
	if err := turns.read(records); err != nil {
		return nil, err
	}
	return rec.result(turns.seen), nil
}

// recorder is what Record has taken so far.
type recorder struct {
	wanted   Wanted
	out      Recording
	counted  map[events.Position]struct{} // inputs in the batch of some event
	contents map[events.Position]json.RawMessage
	sessions map[events.SessionID]string
	last     int64 // when the last event was
}

// recordedInput is an input's form in a scenario.
type recordedInput struct {
	Position events.Position `json:"position"`
	At       time.Time       `json:"at"`
	Kind     events.Kind     `json:"kind"`
	Event    events.Event    `json:"event"`
}

func (c *recorder) input(_ events.SessionID, r events.Record) error {
	if r.Erased {
		return nil // found missing by the turn that settles it
	}
	e, err := r.Event()
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	text, err := json.Marshal(recordedInput{r.Position, r.OccurredAt, r.Kind, e})
	if err != nil {
		return fmt.Errorf("replay: input %d: %w", r.Position, err)
	}
	c.contents[r.Position] = text
	return nil
}

// turn makes an event of a turn, unless it is one that nobody is to blame for.
func (c *recorder) turn(t endedTurn) error {
	var failed *events.TurnFailed
	if t.head.Kind == events.KindTurnFailed {
		var err error
		if failed, err = decode[events.TurnFailed](t.head); err != nil {
			return err
		}
		if failed == nil {
			c.gap(t.head, "how the turn failed is erased: there is no event for it")
			return nil
		}
		if failed.Class == events.FailInterrupted && failed.Clean {
			return nil
		}
	}
	e := c.event(t)
	if failed != nil {
		c.fail(&e, failed)
	} else if err := c.receive(&e, t); err != nil {
		return err
	}
	if e.Kind != KindExit {
		c.settle(&e, t.started.Settles)
	}
	c.out.Scenario.Events = append(c.out.Scenario.Events, e)
	return nil
}

// event is the event of a turn, without what it came to.
func (c *recorder) event(t endedTurn) Event {
	if c.out.Began.IsZero() {
		c.out.Began = t.head.OccurredAt
	}
	c.last = max(c.last, c.since(t.head.OccurredAt))
	e := Event{
		AtMS: c.last, Kind: KindObservation, Session: c.name(t.session), Observer: t.started.Provider,
		Turn: t.started.Turn.String(), Position: uint64(t.head.Position),
	}
	if t.started.TurnKind == events.TurnSummary {
		e.Kind = KindSummary
	}
	if t.known {
		e.TookMS = max(0, e.AtMS-c.since(t.began))
	} else {
		c.gap(t.head, "the beginning of its turn is erased or not in view: what it was asked for is not known")
	}
	return e
}

// since is how long after the beginning t is.
func (c *recorder) since(t time.Time) int64 { return t.Sub(c.out.Began).Milliseconds() }

// name is a session's id as text, one string however many events carry it.
func (c *recorder) name(id events.SessionID) string {
	s, ok := c.sessions[id]
	if !ok {
		s = id.String()
		c.sessions[id] = s
	}
	return s
}

// fail says what became of a turn that failed. What arrived before it did is kept: it is all that a policy sees which
// looks at outputs alone.
func (c *recorder) fail(e *Event, f *events.TurnFailed) {
	if f.Class == events.FailCrash || f.Class == events.FailInterrupted {
		e.Kind, e.TookMS = KindExit, 0 // an end is ruled on when it happens
		return
	}
	e.Output = f.Output
	e.Provider = &Failure{IsError: true, Code: string(f.Class)}
	if !f.ResetsAt.IsZero() {
		e.Provider.ResetsMS = max(0, c.since(f.ResetsAt)) // what is past is as good as not said
	}
}

func (c *recorder) receive(e *Event, t endedTurn) error {
	got, err := decode[events.TurnReceived](t.head)
	if err != nil {
		return err
	}
	if got == nil {
		c.gap(t.head, "the output is erased: its event has an empty one")
	} else {
		e.Output, e.Tokens = got.Output, Tokens{In: got.Usage.Input, Out: got.Usage.Output}
		if got.Form != events.FormXML {
			e.Form = got.Form
		}
	}
	for _, r := range t.rest {
		if err := c.cite(e, r); err != nil {
			return err
		}
	}
	return nil
}

// cite takes the commits that something kept names and that ground truth knew of, one way or the other.
func (c *recorder) cite(e *Event, r events.Record) error {
	if r.Kind != events.KindObservationParsed && r.Kind != events.KindSummaryParsed {
		return nil
	}
	if r.Erased {
		c.gap(r, "the commits that it named are erased")
		return nil
	}
	kept, err := r.Event()
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	var claims []events.Claim
	switch kept := kept.(type) {
	case events.ObservationParsed:
		claims = kept.Claims
	case events.SummaryParsed:
		claims = kept.Claims
	}
	for _, claim := range claims {
		known := slices.ContainsFunc(e.Commits, func(have Commit) bool { return have.Hash == claim.Value })
		if !known && (claim.Verdict == events.Verified || claim.Verdict == events.Absent) {
			e.Commits = append(e.Commits, Commit{Hash: claim.Value, Exists: claim.Verdict == events.Verified})
		}
	}
	return nil
}

// settle counts the inputs that no event before has counted.
func (c *recorder) settle(e *Event, settles []events.Position) {
	for _, p := range settles {
		if _, ok := c.counted[p]; ok {
			continue
		}
		c.counted[p] = struct{}{}
		e.Batch++
		if !c.wanted.Inputs {
			continue
		}
		text, ok := c.contents[p]
		if !ok {
			c.gapAt(p, "", "what this input was about is erased")
			continue
		}
		delete(c.contents, p)
		e.Inputs = append(e.Inputs, text)
	}
}

func (c *recorder) gap(r events.Record, why string) { c.gapAt(r.Position, r.Kind, why) }

func (c *recorder) gapAt(at events.Position, kind events.Kind, why string) {
	if len(c.out.Gaps) == MaxListed {
		c.out.More++
		return
	}
	c.out.Gaps = append(c.out.Gaps, Gap{Position: at, Kind: kind, Why: why})
}

func (c *recorder) result(seen reach) *Recording {
	out := c.out
	out.First, out.Last, out.Sessions = seen.first, seen.last, len(c.sessions)
	s := out.Scenario
	s.ID = fmt.Sprintf("log-%d-%d", out.First, out.Last)
	s.Provenance = fmt.Sprintf("Taken from a log, positions %d to %d; outputs, times, costs and failures are recorded. "+
		"What a respawned observer says and costs is assumed.", out.First, out.Last)
	if !out.Began.IsZero() {
		s.EndMS = max(c.last, c.since(seen.at))
	}
	return &out
}
