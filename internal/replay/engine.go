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
	tracks    []track     // by session
	providers []circuitry // by observer
	begun     int         // early turns that have begun
	due       agenda
	openings  int
	result    Result
}

// track is what an engine knows of one session.
type track struct {
	state    policy.State
	started  int64 // when supervision started the observer; -1: it is the first
	opens    int64 // when the next observer opens; never: none is to
	carried  int   // inputs that wait for the next delivered turn
	opened   int   // opening turns since the last event
	observer int32 // that was asked last
	asked    bool  // whether the next turn is delivered is known: it has begun
	reaches  bool  // it is
	ruling   int   // of its provider, when it began
}

// circuitry is what an engine knows of one provider.
type circuitry struct {
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
		e.openUntil(f.at)
		e.event(f, &e.tracks[f.session])
		if e.openings > MaxOpenings {
			break
		}
	}
	e.openUntil(t.end)
	if e.openings > MaxOpenings {
		e.result.Error = ErrRunaway.Error()
	}
	for i := range e.tracks {
		e.result.HeldBatches += e.tracks[i].carried
	}
	return e.result
}

func newEngine(t *tape, p *policy.Policy, marks bool) *engine {
	e := &engine{tape: t, policy: p, tracks: make([]track, t.sessions), providers: make([]circuitry, t.observers)}
	for i := range e.tracks {
		e.tracks[i].started, e.tracks[i].opens = -1, never
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
		e.openUntil(f.begun)
		e.begin(f, &e.tracks[f.session])
	}
}

// begin asks whether f's turn is delivered, by what is known when it begins. An observer that has still to open does so
// together with it, which comes sooner. One that is replaced for its opening turn is asked nothing: what waits for it stays held.
func (e *engine) begin(f *frame, t *track) {
	provider := &e.providers[f.observer]
	t.asked, t.ruling = true, provider.rulings
	t.reaches = e.policy.Delivers(&t.state, provider.Pause, clock(f.begun))
	if t.reaches {
		t.observer = f.observer
	}
	if t.reaches && t.opens != never && (t.opened == 0 || t.started < f.begun) {
		e.open(f.session, f.begun)
	}
	t.reaches = t.reaches && t.opens == never
}

// event plays f in its session.
func (e *engine) event(f *frame, t *track) {
	if !t.asked {
		e.begin(f, t)
	}
	t.asked = false
	v := policy.Verdict{Ruling: policy.RuleNone}
	switch {
	case f.exit:
		v = e.policy.Exit(&t.state, clock(f.at))
		t.carried += int(f.batch)
	case !t.reaches:
		t.carried += int(f.batch)
	default:
		v = e.turn(f, t)
	}
	if v.Restarted {
		e.result.Restarts++
		t.started = f.at
	}
	if v.Ruling == policy.RuleHalt && e.result.HaltedAtMS == nil {
		e.result.HaltedAtMS = &f.at
	}
	e.mark(f, t, v.Ruling)
}

// turn plays a turn that is delivered.
func (e *engine) turn(f *frame, t *track) policy.Verdict {
	if e.policy.Probes(&t.state) {
		t.started = f.begun
	}
	said := &f.said
	if f.fresh != nil && t.started >= e.wedged {
		said = f.fresh
	}
	turn := policy.Turn{Output: said.output, Failure: f.failure, ResetsAt: f.resets}
	v := e.policy.Turn(&t.state, turn, clock(f.at))
	e.rule(&e.providers[f.observer], t, turn, f.at)
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
		t.carried += int(f.batch)
	}
	switch v.Ruling {
	case policy.RuleDrop:
		e.result.DroppedTurns++
		e.lose(t)
	case policy.RuleRespawn:
		if !e.policy.Name().KeepsBatch() {
			e.lose(t)
		}
		e.respawn(f.session, f.at)
	}
	return v
}

// rule says what becomes of a provider by a turn of t that ended at the given time. One that began before the pause in
// force says nothing of it.
func (e *engine) rule(provider *circuitry, t *track, turn policy.Turn, at int64) {
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
	e.result.Recovered += t.carried
	t.carried = 0
}

// lose gives up what t carries, the inputs of the turn at hand among it.
func (e *engine) lose(t *track) {
	e.result.LostBatches += t.carried
	t.carried = 0
}

func (e *engine) waste(tokens int64) {
	e.result.WastedCalls++
	e.result.WastedTokens += tokens
}

// respawn replaces the observer of session: the next one opens a delay later.
func (e *engine) respawn(session int32, at int64) {
	t := &e.tracks[session]
	e.result.Respawns++
	t.opens = at + e.delay
	e.due.add(appointment{t.opens, session})
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
		case t.opens != next.at: // it opened together with an event
		case e.policy.Delivers(&t.state, e.providers[t.observer].Pause, clock(next.at)):
			e.open(next.session, next.at)
		default:
			t.opens = waiting
		}
	}
}

// open plays the opening turn of session's next observer. Where that earns another respawn, the one after it opens a
// delay later again, but no two at one event's instant.
func (e *engine) open(session int32, at int64) {
	t := &e.tracks[session]
	t.started, t.opens = at, never
	t.opened++
	e.openings++
	e.result.Calls++
	e.waste(e.opening.tokens)
	if e.policy.Opening(&t.state, e.opening.output, clock(at)) == policy.RuleRespawn {
		e.respawn(session, at)
	}
}

// mark notes what became of f.
func (e *engine) mark(f *frame, t *track, ruling policy.Ruling) {
	word := string(ruling)
	if e.result.Marks != nil {
		e.result.Marks = append(e.result.Marks, Mark{
			AtMS: f.at, Decision: word, Openings: t.opened,
			WastedTokens: e.result.WastedTokens, Lost: e.result.LostBatches,
		})
	}
	if t.opened > 0 {
		word += "+" + strconv.Itoa(t.opened)
		t.opened = 0
	}
	e.result.Decisions = append(e.result.Decisions, word)
}
