package session

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Balance counts inputs by outcome. Captured is always the sum of the others.
type Balance struct {
	Captured  int `json:"captured"`
	Observed  int `json:"observed"`
	Skipped   int `json:"skipped"`
	Dropped   int `json:"dropped"`
	Pending   int `json:"pending"`
	Forgotten int `json:"forgotten"`
}

// BalanceOf is the balance of inputs that were counted by their Outcome.
func BalanceOf[N int | int64](counts []N) Balance {
	b := Balance{
		Observed: int(counts[Observed]), Skipped: int(counts[Skipped]), Dropped: int(counts[Dropped]), Pending: int(counts[Pending]),
		Forgotten: int(counts[Forgotten]),
	}
	b.Captured = b.Observed + b.Skipped + b.Dropped + b.Pending + b.Forgotten
	return b
}

// keepObservations is how many of a session's observations a State remembers by position: enough for a brief (10) and
// for the summary of a very long answer.
const keepObservations = 200

// keepSaid is how many of the texts between tool calls a State remembers by position; an answer has some tens.
const keepSaid = 1000

// maxUnparsed is how many outputs that did not parse a State remembers: as many as a setting lets be counted.
const maxUnparsed = 100

// State is what is known of one session, without any text. The zero value is a session nobody has heard of. It belongs
// to one goroutine.
type State struct {
	version events.Version
	origin  Origin
	opened  bool
	closed  bool
	active  time.Time // when the agent's last sign of life was recorded
	heard   time.Time // when the latest of what the session reported happened, stops and ends aside

	keys      map[events.Key]struct{}
	inputs    []input        // by version
	owed      []int          // indexes into inputs, ascending
	requested map[int]string // whom a person asked to answer for an input that was owed again, by index
	counts    [Forgotten + 1]int
	epoch     int            // stops so far; inputs between two stops share one
	work      int            // tool uses since the last stop
	words     bool           // since the last stop the agent said something between them
	said      []keptText     // what it said, by version; the last keepSaid
	flush     events.Version // everything up to here is due at once
	forgot    events.Version // when something was forgotten last; 0: never
	stopped   time.Time      // when the last stop happened
	prompts   []keptPrompt
	private   bool // the current prompt is private
	seen      []observation
	summaries []keptSummary // one a stop, the latest

	turn  *turn // in flight
	ended *turn // the last one, while the events of its append are evolved

	generation  int
	restarts    []time.Time
	consecutive int
	resume      time.Time // no turn before: a restart's delay
	quarantine  quarantine
	held        *Held          // nil once an output arrived
	answered    events.Version // of the last output

	// blames are failed turns whose class blames the turn, each the first of one provider for some of its inputs. Whether that
	// provider has answered anything since is what tells a bad input from a provider that answers nothing.
	blames []failedTurn // by version

	unparsed  []time.Time // when outputs, not blank, did not parse, since one did or a fresh generation began; the last maxUnparsed
	refreshed time.Time   // when such outputs last earned a fresh generation
	fresh     bool        // this generation was, and nothing was kept since: it is given nothing of what was
}

// input is what is kept of a captured event that a turn must settle.
type input struct {
	position events.Position
	version  events.Version
	since    time.Time // when it was recorded, or last asked for again
	at       int64     // when it happened, in nanoseconds since 1970
	size     int
	epoch    int
	talk     bool // a stop of an answer without tool uses
	kind     events.Kind
	outcome  Outcome
	attempts uint8 // failed turns that blame the batch, since it was last halved
	asks     Answers
	cuts     uint8          // turns that were too long though they settled it alone
	most     uint16         // the most inputs its turn may settle; 0: no limit
	refusals uint8          // failed turns that were their own fault, as the provider said, since it was last halved
	blamed   events.Version // of the first crash with it since it was owed; 0: none
	blamedAt events.Version // of the blame that it bears; 0: none
}

// reference points at an event. It has no position until the event is appended; see Place.
type reference struct {
	position events.Position
	version  events.Version
}

func (r *reference) ref() *reference { return r }

// observation is what is kept of an observation.
type observation struct {
	reference
	epoch int
	turn  events.ID // that said it
	first int       // of the inputs that the turn settled, as an index; -1: none
	last  int       // of the same
}

// keptPrompt is what is kept of a prompt.
type keptPrompt struct {
	reference
	at        int64 // when it was submitted, in nanoseconds since 1970
	private   bool
	forgotten bool
}

// keptSummary is what is kept of a summary.
type keptSummary struct {
	reference
	at   int64 // when the stop happened that it is of, in nanoseconds since 1970
	stop int   // as an index
}

// keptText is what is kept of a text between tool calls.
type keptText struct {
	reference
	epoch int
	at    int64 // when it was said, in nanoseconds since 1970

	forgotten bool
}

// failedTurn is what is kept of a failed turn whose class blames the turn.
type failedTurn struct {
	reference
	provider string // that was asked
}

type turn struct {
	id       events.ID
	started  events.ID // the record
	kind     events.TurnKind
	settles  []int // indexes into inputs
	prompt   int
	epoch    int
	reasks   bool // its drop may be asked once more
	inPrompt []events.Position
}

type quarantine struct {
	began time.Time // the first of those in a row
	since time.Time
	until time.Time
	trip  int // 0: none
}

// Held is the last failure of a provider that keeps a session's inputs waiting.
type Held struct {
	Provider string
	Class    events.FailureClass
	ResetsAt time.Time // zero: the provider did not say
	At       time.Time // when the turn failed
}

// Version is the version of the stream that the state stands for.
func (s *State) Version() events.Version { return s.version }

// Origin is where the session comes from, as its last opening said.
func (s *State) Origin() Origin { return s.origin }

// Closed reports whether the session ended and nothing was captured since.
func (s *State) Closed() bool { return s.closed }

// Generation is the number of the observer's present incarnation, from 0.
func (s *State) Generation() int { return s.generation }

// InFlight returns the turn that is being asked, if there is one.
func (s *State) InFlight() (id events.ID, ok bool) {
	if s.turn == nil {
		return events.ID{}, false
	}
	return s.turn.id, true
}

// Quarantined returns since when the session is in quarantine and when its probe is due; ok is false if it is not.
func (s *State) Quarantined() (since, until time.Time, ok bool) {
	return s.quarantine.since, s.quarantine.until, s.quarantine.trip > 0
}

// Held returns the provider's failure that the session's inputs wait for; ok is false if the last turn was answered.
func (s *State) Held() (h Held, ok bool) {
	if s.held == nil {
		return Held{}, false
	}
	return *s.held, true
}

// Balance counts the session's inputs.
func (s *State) Balance() Balance {
	b := BalanceOf(s.counts[:])
	b.Captured = len(s.inputs)
	return b
}

// Owes reports whether some input still waits for a turn.
func (s *State) Owes() bool { return len(s.owed) > 0 }

// Sized is where an input stands, and the size of its payload in bytes before compression.
type Sized struct {
	Position events.Position
	Size     int
}

// Before returns the last n tool uses before the input at p that an output came for which kept or skipped them, the oldest
// first. The slice is the caller's.
func (s *State) Before(p events.Position, n int) []Sized {
	end, _ := s.at(p)
	var found []Sized
	for i := end - 1; i >= 0 && len(found) < n; i-- {
		if in := s.inputs[i]; in.kind == events.KindToolUsed && (in.outcome == Observed || in.outcome == Skipped) {
			found = append(found, Sized{Position: in.position, Size: in.size})
		}
	}
	slices.Reverse(found)
	return found
}

// Since returns the first n tool uses behind the input at p that an output came for which kept or skipped them, the oldest first: there
// are some where p is observed again. The slice is the caller's.
func (s *State) Since(p events.Position, n int) (found []events.Position) {
	i, _ := s.at(p)
	for i++; i < len(s.inputs) && len(found) < n; i++ {
		if in := s.inputs[i]; in.kind == events.KindToolUsed && (in.outcome == Observed || in.outcome == Skipped) {
			found = append(found, in.position)
		}
	}
	return found
}

// ObservedInputs is where an observation stands, and the first and the last of the inputs that it is about.
type ObservedInputs struct {
	At, First, Last events.Position
}

// ObservationsSince returns the session's observations whose inputs begin at from or behind it, the oldest first, as far as they
// are remembered. The slice is the caller's.
func (s *State) ObservationsSince(from events.Position) (all []ObservedInputs) {
	for _, o := range s.seen {
		if o.first >= 0 && s.inputs[o.first].position >= from {
			all = append(all, ObservedInputs{At: o.position, First: s.inputs[o.first].position, Last: s.inputs[o.last].position})
		}
	}
	return all
}

// at finds the input at position p. Inputs at the tail that were not placed yet have no position, and are later.
func (s *State) at(p events.Position) (int, bool) {
	i := sort.Search(len(s.inputs), func(i int) bool {
		at := s.inputs[i].position
		return at == 0 || at >= p
	})
	return i, i < len(s.inputs) && s.inputs[i].position == p
}

func (s *State) indexes(ps []events.Position) []int {
	var is []int
	for _, p := range ps {
		if i, ok := s.at(p); ok {
			is = append(is, i)
		}
	}
	return is
}

func (s *State) positions(is []int) []events.Position {
	ps := make([]events.Position, len(is))
	for n, i := range is {
		ps[n] = s.inputs[i].position
	}
	return ps
}

// promptBefore returns the number and position of the last prompt before version v.
func (s *State) promptBefore(v events.Version) (number int, at events.Position) {
	n := sort.Search(len(s.prompts), func(i int) bool { return s.prompts[i].version >= v })
	if n == 0 {
		return 0, 0
	}
	return n, s.prompts[n-1].position
}

// promptAt returns the number of the last prompt that was submitted by then, from 1, and whether it was private; 0: before the first.
func (s *State) promptAt(at time.Time) (number int, private bool) {
	for i := len(s.prompts) - 1; i >= 0; i-- {
		if s.prompts[i].at <= at.UnixNano() {
			return i + 1, s.prompts[i].private
		}
	}
	return 0, false
}

// promptHolds reports whether the prompt of the turn holds anything that e names.
func (t *turn) promptHolds(e events.MemoryForgotten) bool {
	return slices.ContainsFunc(e.Positions, func(p events.Position) bool { return p != 0 && slices.Contains(t.inPrompt, p) })
}

// unsummed returns the stop of which a summary must be asked for again where what is forgotten takes the newest: the last one that is
// left. ok is false where the newest stays, no stop is left, or a summary is owed already.
func (s *State) unsummed(forgotten []events.MemoryForgotten) (stop events.Position, ok bool) {
	if len(s.summaries) == 0 {
		return 0, false
	}
	gone := map[events.Position]bool{}
	for _, e := range forgotten {
		for _, p := range e.Positions {
			gone[p] = true
		}
	}
	newest := slices.MaxFunc(s.summaries, func(a, b keptSummary) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.version, b.version)) })
	if !gone[newest.position] {
		return 0, false
	}
	for i, in := range slices.Backward(s.inputs) {
		if in.kind != events.KindAgentStopped || in.talk || in.outcome == Forgotten || gone[in.position] {
			continue
		}
		if _, owed := slices.BinarySearch(s.owed, i); owed {
			return 0, false
		}
		stop = cmp.Or(stop, in.position)
	}
	return stop, stop != 0
}

// Blamed reports whether turns over any of the inputs at ps failed by their own fault, as their provider said, since the
// inputs were owed or their batch was last halved. Such inputs let others go first.
func (s *State) Blamed(ps []events.Position) bool {
	return slices.ContainsFunc(s.indexes(ps), func(i int) bool { return s.inputs[i].refusals > 0 })
}

// answeredSince reports whether something was answered since a turn over in first failed as e did: anything to this
// session, where the observer crashed; anything to anybody, where e is what the provider said. An earlier failure that
// was appended a moment ago and has no position yet counts for none.
func (s *State) answeredSince(in input, e events.TurnFailed) bool {
	if crashed(e) {
		return in.blamed != 0 && s.answered >= in.blamed
	}
	b, ok := s.blameOf(in)
	return ok && b.provider == e.Provider && b.position != 0 && e.Answered > b.position
}

// blameOf finds the blame that in bears.
func (s *State) blameOf(in input) (failedTurn, bool) {
	i, ok := slices.BinarySearchFunc(s.blames, in.blamedAt, func(b failedTurn, v events.Version) int { return int(b.version) - int(v) })
	if !ok {
		return failedTurn{}, false
	}
	return s.blames[i], true
}

func (s *State) inFlight(id events.ID) bool { return s.turn != nil && s.turn.id == id }

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
