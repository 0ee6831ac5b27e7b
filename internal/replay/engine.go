package replay

import (
	"errors"
	"strconv"

	"github.com/cmemd/cmemd/actors/policy"
)

// MaxOpenings is how many opening turns a run may have.
const MaxOpenings = 1_000_000

// ErrRunaway is what Result.Error says of a policy that opens more than MaxOpenings observers: their opening turn earns the next
// one, over a long stretch.
var ErrRunaway = errors.New("replay: more than a million openings")

// engine plays a tape under one policy.
type engine struct {
	*tape
	policy    *policy.Policy
	tracks    []track        // by session
	providers []circuitState // by observer
	begun     int            // early turns that have begun
	due       agenda
	openings  int
	result    Result
}

// track is what an engine knows of one session.
type track struct {
	state         policy.State
	startedAt     int64 // when supervision started the observer; -1: it is the first
	opensAt       int64 // when the next observer opens; never: none is to
	carriedInputs int   // inputs that wait for the next delivered turn
	openingTurns  int   // opening turns since the last event
	observer      int32 // that was asked last
	turnBegun     bool  // whether the next turn is delivered is known: it has begun
	isDelivered   bool  // it is
	ruling        int   // of its provider, when it began
}

// circuitState is what an engine knows of one provider.
type circuitState struct {
	policy.Pause
	rulings int
}

// The times of an opening that no clock brings.
const (
	never   = -1
	waiting = maxMS + 1 // for the next delivered turn
)

// play plays t from its beginning to its end, or until there are too many openings.
func play(t *tape, p *policy.Policy, marks bool) Result {
	e := newEngine(t, p, marks)
	for i := range t.frames {
		f := &t.frames[i]
		e.beginBefore(i)
		e.openUntil(f.atMS)
		e.playEvent(f, &e.tracks[f.session])
		if e.openings > MaxOpenings {
			break
		}
	}
	e.openUntil(t.endMS)
	if e.openings > MaxOpenings {
		e.result.Error = ErrRunaway.Error()
	}
	for i := range e.tracks {
		e.result.HeldBatches += e.tracks[i].carriedInputs
	}
	return e.result
}

func newEngine(t *tape, p *policy.Policy, marks bool) *engine {
	e := &engine{tape: t, policy: p, tracks: make([]track, t.sessions), providers: make([]circuitState, t.observers)}
	for i := range e.tracks {
		e.tracks[i].startedAt, e.tracks[i].opensAt = -1, never
	}
	e.result.Decisions = make([]string, 0, len(t.frames))
	if marks {
		e.result.Marks = make([]Mark, 0, len(t.frames))
	}
	return e
}

// beginBefore begins the turns that were in flight when event i came, and were not before.
func (e *engine) beginBefore(i int) {
	for ; e.begun < len(e.early) && int(e.early[e.begun].before) <= i; e.begun++ {
		f := &e.frames[e.early[e.begun].frame]
		e.openUntil(f.begunMS)
		e.begin(f, &e.tracks[f.session])
	}
}

// begin asks whether f's turn is delivered, by what is known when it begins. An observer that has still to open does so
// together with it, which comes sooner. One that is replaced for its opening turn is asked nothing: what waits for it stays held.
func (e *engine) begin(f *frame, t *track) {
	provider := &e.providers[f.observer]
	t.turnBegun, t.ruling = true, provider.rulings
	t.isDelivered = e.policy.Delivers(&t.state, provider.Pause, clock(f.begunMS))
	if t.isDelivered {
		t.observer = f.observer
	}
	if t.isDelivered && t.opensAt != never && (t.openingTurns == 0 || t.startedAt < f.begunMS) {
		e.open(f.session, f.begunMS)
	}
	t.isDelivered = t.isDelivered && t.opensAt == never
}

// playEvent plays f in its session.
func (e *engine) playEvent(f *frame, t *track) {
	if !t.turnBegun {
		e.begin(f, t)
	}
	t.turnBegun = false
	v := policy.Verdict{Ruling: policy.RuleNone}
	switch {
	case f.exit:
		v = e.policy.RuleOnExit(&t.state, clock(f.atMS))
		t.carriedInputs += int(f.batch)
	case !t.isDelivered:
		t.carriedInputs += int(f.batch)
	default:
		v = e.playTurn(f, t)
	}
	if v.Restarted {
		e.result.Restarts++
		t.startedAt = f.atMS
	}
	if v.Ruling == policy.RuleHalt && e.result.HaltedAtMS == nil {
		e.result.HaltedAtMS = &f.atMS
	}
	e.mark(f, t, v.Ruling)
}

// playTurn plays a turn that is delivered.
func (e *engine) playTurn(f *frame, t *track) policy.Verdict {
	if e.policy.Probes(&t.state) {
		t.startedAt = f.begunMS
	}
	said := &f.usualOutput
	if f.freshOutput != nil && t.startedAt >= e.wedgedAtMS {
		said = f.freshOutput
	}
	turn := policy.Turn{Output: said.output, Failure: f.failure, ResetsAt: f.resetTime}
	v := e.policy.RuleOnTurn(&t.state, turn, clock(f.atMS))
	e.rule(&e.providers[f.observer], t, turn, f.atMS)
	e.result.Calls++
	switch v.Ruling {
	case policy.RuleKeep:
		e.result.Observations += int(said.observations)
		e.result.Summaries += int(said.summaries)
		e.result.FlaggedCommits += int(said.flagged)
		e.recover(t)
	case policy.RuleSkip:
		e.recover(t)
	default:
		e.waste(said.tokens)
		t.carriedInputs += int(f.batch)
	}
	switch v.Ruling {
	case policy.RuleDrop:
		e.result.DroppedTurns++
		e.lose(t)
	case policy.RuleRespawn:
		if !e.policy.Name().KeepsBatch() {
			e.lose(t)
		}
		e.respawn(f.session, f.atMS)
	}
	return v
}

// rule says what becomes of a provider by a turn of t that ended at the given time. One that began before the pause in
// force says nothing of it.
func (e *engine) rule(provider *circuitState, t *track, turn policy.Turn, at int64) {
	switch {
	case !provider.Paused() && turn.Failure == "": // nothing is the matter
		return
	case provider.Paused() && t.ruling != provider.rulings:
		return
	}
	if next := e.policy.Pause(provider.Pause, turn, clock(at)); next != provider.Pause {
		provider.Pause = next
		provider.rulings++
	}
}

// recover ends the waiting of what t carries: the turn that was just answered well had it in it.
func (e *engine) recover(t *track) {
	e.result.Recovered += t.carriedInputs
	t.carriedInputs = 0
}

// lose gives up what t carries, the inputs of the turn at hand among it.
func (e *engine) lose(t *track) {
	e.result.LostBatches += t.carriedInputs
	t.carriedInputs = 0
}

func (e *engine) waste(tokens int64) {
	e.result.WastedCalls++
	e.result.WastedTokens += tokens
}

// respawn replaces the observer of session: the next one opens a delay later.
func (e *engine) respawn(session int32, at int64) {
	t := &e.tracks[session]
	e.result.Respawns++
	t.opensAt = at + e.delayMS
	e.due.add(appointment{t.opensAt, session})
}

// openUntil opens the observers that are due, up to and including at, in the order of their times. One whose provider
// rests waits for the next turn that is delivered.
func (e *engine) openUntil(at int64) {
	for e.openings <= MaxOpenings {
		next, ok := e.due.next(at)
		if !ok {
			return
		}
		t := &e.tracks[next.session]
		switch {
		case t.opensAt != next.at: // it opened together with an event
		case e.policy.Delivers(&t.state, e.providers[t.observer].Pause, clock(next.at)):
			e.open(next.session, next.at)
		default:
			t.opensAt = waiting
		}
	}
}

// open plays the opening turn of session's next observer. Where that earns another respawn, the one after it opens a
// delay later again, but no two at one event's instant.
func (e *engine) open(session int32, at int64) {
	t := &e.tracks[session]
	t.startedAt, t.opensAt = at, never
	t.openingTurns++
	e.openings++
	e.result.Calls++
	e.waste(e.opening.tokens)
	if e.policy.RuleOnOpening(&t.state, e.opening.output, clock(at)) == policy.RuleRespawn {
		e.respawn(session, at)
	}
}

// mark notes what became of f.
func (e *engine) mark(f *frame, t *track, ruling policy.Ruling) {
	if e.result.Marks != nil {
		e.result.Marks = append(e.result.Marks, Mark{
			AtMS: f.atMS, Decision: ruling, Openings: t.openingTurns,
			WastedTokens: e.result.WastedTokens, Lost: e.result.LostBatches,
		})
	}
	word := string(ruling)
	if t.openingTurns > 0 {
		word += "+" + strconv.Itoa(t.openingTurns)
		t.openingTurns = 0
	}
	e.result.Decisions = append(e.result.Decisions, word)
}
