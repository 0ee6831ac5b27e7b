package replay

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/setting"
)

// Wanted is what Record takes from a log.
type Wanted struct {
	Selection
	Inputs  bool    // what the turns were about, too: what agents did, with all it may hold
	Respawn Respawn // what is assumed of a new observer's opening
}

// Recording is a stretch of a log as a scenario, with what of it could not be had. Its JSON is without Scenario and Began.
type Recording struct {
	Scenario    *Scenario                 `json:"-"`
	First       events.Position           `json:"first"` // of the records that were read
	Last        events.Position           `json:"last"`
	Began       time.Time                 `json:"-"` // what Scenario counts from; zero: no turn ended in the stretch
	Sessions    int                       `json:"sessions"`
	Respawned   map[string]int            `json:"respawned,omitempty"`   // observers, by cause, as it was recorded
	Quarantined int                       `json:"quarantined,omitempty"` // rulings, as they were recorded
	GivenUp     map[events.DropReason]int `json:"given_up,omitempty"`    // inputs that were dropped by name: no turn of the scenario tells of it
	Lives       []Life                    `json:"lives,omitempty"`       // of the daemon, under whose settings the stretch was recorded; only those that differ from the one before
	Gaps        []Gap                     `json:"gaps,omitempty"`        // at most MaxListed
	More        int                       `json:"more_gaps,omitempty"`
}

// Life is what a daemon went by that recorded a stretch.
type Life struct {
	Position events.Position `json:"position"` // of its DaemonStarted
	Policy   policy.Name     `json:"policy"`
	Settings policy.Settings `json:"-"`
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
// end of the selection. It makes one pass, and a second one where w.Inputs asks for contents. It keeps what is selected: the
// scenario, and the inputs it settles by number. The error is that of the sequence, or of a payload that cannot be read;
// one that was erased is a gap.
func Record(records iter.Seq2[events.Record, error], w Wanted) (*Recording, error) {
	rec := newRecorder(w, nil)
	more, err := w.Selection.read(records, &rec.turns)
	if err != nil {
		return nil, err
	}
	return rec.result(records, more)
}

func newRecorder(w Wanted, d decoder) *recorder {
	rec := &recorder{wanted: w, sessions: map[events.SessionID]string{}}
	rec.out = Recording{
		Scenario: &Scenario{Respawn: w.Respawn, Events: []Event{}}, Respawned: map[string]int{}, GivenUp: map[events.DropReason]int{},
	}
	rec.turns = turnReader{sessions: map[events.StreamID]*turnsOf{}, sel: w.Selection, decoder: d, onTurn: rec.turn, onRuling: rec.ruling}
	return rec
}

// recorder is what Record has taken so far.
type recorder struct {
	wanted   Wanted
	turns    turnReader
	out      Recording
	counted  positions // inputs in the batch of some event
	inputs   []inputOf // where their contents are wanted
	sessions map[events.SessionID]string
	last     int64 // when the last event was
}

// turn makes an event of a turn, unless it is one that nobody is to blame for.
func (c *recorder) turn(t endedTurn) error {
	var failed *events.TurnFailed
	if t.head.Kind == events.KindTurnFailed {
		var err error
		if failed, err = decode[events.TurnFailed](c.turns.decoder, t.head); err != nil {
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
		e.Batch = c.countInputs(len(c.out.Scenario.Events), t)
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
	got, err := decode[events.TurnReceived](c.turns.decoder, t.head)
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
	kept, err := c.turns.decoder.event(r)
	var claims []events.Claim
	switch kept := kept.(type) {
	case events.ObservationParsed:
		claims = kept.Claims
	case events.SummaryParsed:
		claims = kept.Claims
	case nil:
		if err == nil {
			c.gap(r, "the commits that it named are erased")
		}
	}
	for _, claim := range claims {
		known := slices.ContainsFunc(e.Commits, func(have Commit) bool { return have.Hash == claim.Value })
		if !known && (claim.Verdict == events.Verified || claim.Verdict == events.Absent) {
			e.Commits = append(e.Commits, Commit{Hash: claim.Value, Exists: claim.Verdict == events.Verified})
		}
	}
	return err
}

// ruling notes what no turn tells: what supervision did, and the settings of a life.
func (c *recorder) ruling(r events.Record) error {
	e, err := c.turns.decoder.event(r)
	switch e := e.(type) {
	case events.InputsDropped:
		c.out.GivenUp[e.Reason] += len(e.Inputs)
	case events.SessionRespawned:
		c.out.Respawned[e.Cause]++
	case events.SessionQuarantined:
		c.out.Quarantined++
	case events.DaemonStarted:
		c.recordLife(r.Position, e.Settings)
	}
	return err
}

// recordLife begins a life. One that goes by what the life before went by is none of its own; of those before the first turn of
// the stretch only the last counts.
func (c *recorder) recordLife(at events.Position, settings map[string]string) {
	l := Life{Position: at}
	l.Policy, l.Settings = policyOf(settings)
	lives := c.out.Lives
	if c.out.Began.IsZero() {
		lives = nil
	}
	if n := len(lives); n > 0 && lives[n-1].Policy == l.Policy && reflect.DeepEqual(lives[n-1].Settings, l.Settings) {
		return
	}
	c.out.Lives = append(lives, l)
}

// policyOf is the policy, and the numbers of it, that a daemon went by that recorded settings. Numbers that no live policy has
// are the defaults.
func policyOf(settings map[string]string) (policy.Name, policy.Settings) {
	v, _ := setting.Read(settings)
	s := policy.Settings{Restarts: v.Sessions.Restarts, Quarantine: v.Sessions.Quarantine, Pause: v.Pause}
	if v.Policy == policy.Supervised {
		s.Unparseable = v.Unparseable
	}
	return v.Policy, s
}

// countInputs counts the inputs of an event's turn that no event before has counted.
func (c *recorder) countInputs(eventIndex int, t endedTurn) (n int) {
	for _, p := range t.started.Settles {
		if p >= t.head.Position || !c.counted.add(p) { // what is ahead of the turn is no input of it
			continue
		}
		n++
		if c.wanted.Inputs {
			c.inputs = append(c.inputs, inputOf{eventIndex, p})
		}
	}
	return n
}

func (c *recorder) gap(r events.Record, why string) { c.addGap(r.Position, r.Kind, why) }

func (c *recorder) addGap(at events.Position, kind events.Kind, why string) {
	list(&c.out.Gaps, &c.out.More, Gap{Position: at, Kind: kind, Why: why})
}

// result is the recording of what was read, to the end of the selection if there was more; records are read again where
// contents are wanted.
func (c *recorder) result(records iter.Seq2[events.Record, error], more bool) (*Recording, error) {
	if c.wanted.Inputs {
		if err := c.takeInputs(records); err != nil {
			return nil, err
		}
	}
	out, seen := c.out, c.turns.seen
	if more {
		seen.at = c.wanted.Until
	}
	out.First, out.Last, out.Sessions = seen.first, seen.last, len(c.sessions)
	s := out.Scenario
	s.ID = fmt.Sprintf("log-%d-%d", out.First, out.Last)
	s.Provenance = fmt.Sprintf("Taken from a log, positions %d to %d; outputs, times, costs and failures are recorded. "+
		"What a respawned observer says and costs is assumed.", out.First, out.Last)
	if !out.Began.IsZero() {
		s.EndMS = max(c.last, c.since(seen.at))
	}
	return &out, nil
}
