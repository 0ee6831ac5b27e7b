package replay

import (
	"slices"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// tape is a scenario as an engine plays it: each output parsed once for all policies, names turned into numbers. It is
// not changed after it was made, so that any number of engines may play it at once.
type tape struct {
	frames     []frame
	early      []early
	sessions   int // numbered from 0
	observers  int
	opening    parsedOutput
	delayMS    int64
	endMS      int64
	wedgedAtMS int64 // observers started then or later say frame.fresh
}

// frame is one event.
type frame struct {
	atMS        int64
	begunMS     int64 // when its turn began: at, or before
	resetTime   time.Time
	failure     events.FailureClass
	session     int32
	observer    int32
	batch       int32
	exit        bool
	usualOutput parsedOutput
	freshOutput *parsedOutput // nil: the same
}

// parsedOutput is what an output comes to.
type parsedOutput struct {
	output       policy.Output
	observations int32
	summaries    int32
	flagged      int32 // commits of the event that the repository has not
	tokens       int64
}

// record makes a tape of s, which has been checked. Phrases says whether some policy wants to know of them.
func record(s *Scenario, types observer.Types, phrases bool) *tape {
	r := outputParser{types: types, phrases: phrases}
	t := &tape{
		frames:  make([]frame, len(s.Events)),
		opening: r.read("", s.Respawn.Output, events.TurnObservation, s.Respawn.Tokens),
		delayMS: s.Respawn.DelayMS, endMS: s.end(), wedgedAtMS: maxMS + 1,
	}
	if s.WedgedAtMS != nil {
		t.wedgedAtMS = *s.WedgedAtMS
	}
	sessions, observers := map[string]int32{}, map[string]int32{}
	for i := range s.Events {
		e, f := &s.Events[i], &t.frames[i]
		f.atMS, f.begunMS, f.batch = e.AtMS, e.AtMS-e.TookMS, int32(e.Batch)
		f.session, f.observer = number(sessions, e.Session), number(observers, e.Observer)
	}
	t.sessions, t.observers = len(sessions), len(observers)
	t.early = earlyOf(t.frames, t.sessions)
	r.readAll(t.frames, s.Events)
	return t
}

// outputParser parses outputs.
type outputParser struct {
	types   observer.Types
	phrases bool
}

// readAll reads what was said at each event into its frame, on all processors: parsing is most of the work of a run.
func (r *outputParser) readAll(frames []frame, evs []Event) {
	inParallel(len(evs), func(from, to int) {
		for i := from; i < to; i++ {
			r.fillFrame(&frames[i], &evs[i])
		}
	})
}

func (r *outputParser) fillFrame(f *frame, e *Event) {
	if e.Provider != nil && e.Provider.IsError {
		f.failure = e.Provider.Class()
		if e.Provider.ResetsMS > 0 {
			f.resetTime = clock(e.Provider.ResetsMS)
		}
	}
	f.exit = e.Kind == KindExit || f.failure.BlamesObserver()
	if f.exit {
		return
	}
	kind := events.TurnObservation
	if e.Kind == KindSummary {
		kind = events.TurnSummary
	}
	f.usualOutput = r.read(e.Form, e.Output, kind, e.Tokens)
	for _, c := range e.Commits {
		if !c.Exists {
			f.usualOutput.flagged++
		}
	}
	if e.Fresh != nil {
		fresh := r.read("", e.Fresh.Output, kind, e.Fresh.Tokens)
		fresh.flagged = f.usualOutput.flagged
		f.freshOutput = &fresh
	}
}

func (r *outputParser) read(form events.Form, output events.Output, kind events.TurnKind, cost Tokens) parsedOutput {
	p := observer.ParseForm(form, output, kind, r.types)
	out := parsedOutput{
		output:       policy.Output{Class: policy.Class(p.Class), Disposition: policy.Disposition(p.Disposition)},
		observations: int32(len(p.Observations)), tokens: cost.In + cost.Out,
	}
	if p.Summary != nil {
		out.summaries = 1
	}
	out.output.PhraseFound = r.phrases && !out.output.Parsed() && policy.HasPhrase(output)
	return out
}

// number returns the number of name, the next one if it is new.
func number(names map[string]int32, name string) int32 {
	n, ok := names[name]
	if !ok {
		n = int32(len(names))
		names[name] = n
	}
	return n
}

// Class is the failure class that f's code stands for, as every policy reads it.
//
// The words of clients (rate_limit, ...) and all that is not known hold the provider: a failure must not cost its inputs.
func (f Failure) Class() events.FailureClass {
	if c := events.FailureClass(f.Code); slices.Contains(events.FailureClasses(), c) {
		return c
	}
	return events.FailUnknown
}

// clock is the instant that is ms after the beginning of a scenario.
func clock(ms int64) time.Time { return time.UnixMilli(ms) }
