package replay

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// script writes a log as a daemon does: session.Decide decides, a provider's circuit opens and closes, lives follow
// each other with settings of their own.
type script struct {
	tb       testing.TB
	log      *eventlog.Bolt
	now      time.Time
	ids      uint64
	rules    session.Rules
	wait     policy.Backoff
	slots    int
	provider string
	pause    policy.Pause
	ruled    time.Time // when the provider was last paused or resumed
	held     time.Time // since when it has been paused
	probing  string    // the session whose turn probes the paused provider
	states   map[string]*session.State
	turns    map[string]events.TurnStarted // in flight
	answered events.Position               // the last record of the provider's last answer
	knew     map[string]events.Position    // the same when the turn in flight was let in
	blaming  bool                          // the provider is paused where turns fail by their own fault, as live
	silent   bool                          // lives do not record the version of the rules
}

func newScript(tb testing.TB) *script {
	s := &script{
		tb: tb, now: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), provider: "scripted", slots: 2,
		states: map[string]*session.State{}, turns: map[string]events.TurnStarted{}, knew: map[string]events.Position{},
	}
	s.log = logtest.Open(tb, eventlog.Config{Now: func() time.Time { return s.now }})
	return s
}

func (s *script) id() events.ID {
	s.ids++
	var id events.ID
	binary.BigEndian.PutUint64(id[:8], uint64(s.now.UnixMilli())<<16|7<<12)
	binary.BigEndian.PutUint64(id[8:], s.ids<<20|1<<63)
	return id
}

func (s *script) later(d time.Duration) { s.now = s.now.Add(d) }

func originOf(name string) session.Origin {
	return session.Origin{Agent: "claude-code", AgentSession: name, Project: "p", ProjectRoot: "/p", Cwd: "/p"}
}

func sessionOf(name string) events.SessionID { return originOf(name).Session() }

func (s *script) state(name string) *session.State {
	if s.states[name] == nil {
		s.states[name] = new(session.State)
	}
	return s.states[name]
}

// do decides, appends and places; it returns the refusal, if there was one.
func (s *script) do(name string, cmd session.Command) error {
	s.tb.Helper()
	drafts, err := session.Decide(s.state(name), s.rules, cmd)
	if err != nil {
		return err
	}
	s.append(name, drafts...)
	return nil
}

// append puts drafts into a session's stream, as a command would or as nobody should.
func (s *script) append(name string, drafts ...events.Draft) []events.Record {
	s.tb.Helper()
	st := s.state(name)
	records, err := s.log.Append(s.tb.Context(), sessionOf(name).Stream(), st.Version(), drafts...)
	if err != nil {
		s.tb.Fatal(err)
	}
	session.Apply(st, drafts)
	st.Place(records)
	return records
}

func (s *script) must(name string, cmd session.Command) {
	s.tb.Helper()
	if err := s.do(name, cmd); err != nil {
		s.tb.Fatalf("%s: %v", cmd.Name(), err)
	}
}

func (s *script) capture(name string, e events.Event) {
	s.tb.Helper()
	s.must(name, session.Capture{ID: s.id(), At: s.now, Origin: originOf(name), Event: e})
}

// declare captures e, in which the person says how to work.
func (s *script) declare(name string, e events.Event) {
	s.tb.Helper()
	s.must(name, session.Capture{ID: s.id(), At: s.now, Origin: originOf(name), Event: e, Preferences: []events.PreferenceStated{
		{Sentence: "Always run the tests.", Same: events.KeyOf("tests")}, {Sentence: "Never push.", Same: events.KeyOf("push")},
	}})
}

// work captures n tool uses, each a second after the one before.
func (s *script) work(name string, n int) {
	s.tb.Helper()
	for i := range n {
		s.later(time.Second)
		s.capture(name, events.ToolUsed{Tool: "Edit", Input: fmt.Sprintf(`{"file_path":"/p/%d.go"}`, i), Output: "secret of the input"})
	}
}

func (s *script) stop(name string) {
	s.tb.Helper()
	s.capture(name, events.AgentStopped{Cause: events.StopDone, LastMessage: "done"})
}

// start begins the turn that is due; false: none is.
func (s *script) start(name string) bool {
	s.tb.Helper()
	plan := session.Next(s.state(name), s.rules, s.now)
	if plan.Turn == nil {
		return false
	}
	s.restore(name)
	early := s.blaming && s.pause.Blames() && !plan.Turn.Blamed
	if s.pause.Paused() && (s.probing != "" || !early && !s.pause.ProbeDue(s.now)) {
		return false
	}
	s.knew[name] = s.answered
	w := *plan.Turn
	w.Reads = slices.Concat(w.Reads, w.Offers)
	cmd := session.StartTurn{Turn: s.id(), At: s.now, Work: w, Provider: s.provider, Model: "m", PromptBytes: 100}
	s.must(name, cmd)
	s.turns[name] = events.TurnStarted{Turn: cmd.Turn, TurnKind: plan.Turn.Kind, Settles: plan.Turn.Settles}
	if s.pause.Paused() {
		s.probing = name
	}
	return true
}

// mustStart begins the turn that is due after at most a day of waiting.
func (s *script) mustStart(name string) {
	s.tb.Helper()
	for range 100 {
		if s.start(name) {
			return
		}
		next := session.Next(s.state(name), s.rules, s.now).Next
		if s.pause.Paused() && s.pause.Until.After(s.now) {
			next = s.pause.Until
		}
		if next.IsZero() || next.Sub(s.now) > 24*time.Hour {
			break
		}
		s.now = next
	}
	s.tb.Fatalf("no turn of %s is due", name)
}

// answer ends the turn in flight with text, as the grammar reads it.
func (s *script) answer(name, text string) {
	s.tb.Helper()
	turn, at := s.turns[name], s.now
	parsed := observer.Parse(text, turn.TurnKind, observer.CodeMode().TypeIDs())
	a := session.Answer{ID: s.id(), At: at, Happened: at.Add(-time.Minute), Received: events.TurnReceived{
		Turn: turn.Turn, Form: events.FormXML, Output: events.NewOutput(text), Usage: events.Usage{Input: 1500, Output: 40}, LatencyMS: 5,
	}}
	switch parsed.Disposition {
	case observer.DispositionSkip:
		a.Skipped = &events.OutputSkipped{Turn: turn.Turn, Reason: string(parsed.Reason), Stated: parsed.SkipReason}
	case observer.DispositionDropped:
		a.Dropped = &events.OutputDropped{
			Turn: turn.Turn, Class: string(parsed.Class), Reason: string(parsed.Reason), Preview: events.NewOutput(text), Length: len(text),
		}
	default:
		s.keep(turn.Turn, parsed, &a)
	}
	s.must(name, a)
	s.answered, s.pause = s.last(), s.pause.Answered()
	if s.probing == name && a.Parsed() {
		s.resume()
	}
	s.over(name)
}

// resume ends a pause because its probe was parsed.
func (s *script) resume() {
	s.pause, s.probing = policy.Pause{}, ""
	s.rule(events.ProviderResumed{By: "probe"})
}

func (s *script) keep(turn events.ID, parsed observer.Parsed, a *session.Answer) {
	for _, o := range parsed.Observations {
		a.Observations = append(a.Observations, events.ObservationParsed{
			Observation: s.id(), Turn: turn, Type: o.Type, TypeGiven: o.TypeGiven, Title: o.Title, Subtitle: o.Subtitle,
			Narrative: o.Narrative, Facts: o.Facts, Concepts: o.Concepts,
		})
	}
	if m := parsed.Summary; m != nil {
		a.Summary = &events.SummaryParsed{
			Summary: s.id(), Turn: turn, Request: m.Request, Investigated: m.Investigated, Learned: m.Learned,
			Completed: m.Completed, NextSteps: m.NextSteps, Notes: m.Notes,
		}
	}
}

// fail ends the turn in flight with a failure, and pauses the provider where it is to blame.
func (s *script) fail(name string, class events.FailureClass, resetsIn time.Duration) {
	s.tb.Helper()
	probe, turn, n, dropped := s.probing == name, s.turns[name].Turn, len(s.turns[name].Settles), s.state(name).Balance().Dropped
	failed := s.failUnruled(name, class, resetsIn)
	if settled := n > 1 && class != events.FailRefused || s.state(name).Balance().Dropped > dropped; class.BlamesTurn() && s.blaming && !settled {
		if s.pause.Blamed+1 < policy.BlamesToPause || s.pause.Paused() && !probe || s.pause.Rests(s.now) {
			s.pause.Blamed++
			return
		}
		s.pauseAfter(class, failed.ResetsAt, s.now, turn)
	}
	if class.BlamesProvider() && (probe || !s.pause.Paused()) {
		s.pauseAfter(class, failed.ResetsAt, s.now, turn)
	}
}

// failUnruled ends the turn in flight with a failure, and nobody rules on the provider: the daemon died in between.
func (s *script) failUnruled(name string, class events.FailureClass, resetsIn time.Duration) events.TurnFailed {
	s.tb.Helper()
	failed := events.TurnFailed{Turn: s.turns[name].Turn, Class: class, Provider: s.provider, Message: "it failed"}
	if class.BlamesTurn() {
		failed.Answered = s.knew[name]
	}
	if resetsIn != 0 {
		failed.ResetsAt = s.now.Add(resetsIn)
	}
	s.must(name, session.Fail{ID: s.id(), At: s.now, Failed: failed})
	s.over(name)
	return failed
}

func (s *script) pauseAfter(class events.FailureClass, resetsAt, at time.Time, turn events.ID) {
	s.tb.Helper()
	if !s.pause.Paused() {
		s.held = s.now
	}
	s.pause = s.pause.After(class, policy.Clamp(resetsAt, at), at, s.waits())
	s.rule(events.ProviderPaused{Class: s.pause.Class, Until: s.pause.Until, Probe: s.pause.Probe, Turn: turn})
}

// restore brings back the pause that a crash lost, as the dispatcher does when the session that was held asks for a turn.
func (s *script) restore(name string) {
	h, ok := s.state(name).Held()
	if ok && !s.pause.Paused() && h.Provider == s.provider && h.At.After(s.ruled) {
		s.pauseAfter(h.Class, h.ResetsAt, h.At, events.ID{})
	}
}

func (s *script) over(name string) {
	delete(s.turns, name)
	if s.probing == name {
		s.probing = ""
	}
}

func (s *script) waits() policy.Backoff {
	if s.wait == (policy.Backoff{}) {
		return policy.DefaultPause()
	}
	return s.wait
}

func (s *script) rule(e events.Event) {
	s.tb.Helper()
	s.ruled = s.now
	s.appendEnd(events.ProviderStream(s.provider), e)
}

func (s *script) appendEnd(stream events.StreamID, e events.Event) {
	s.tb.Helper()
	d := events.Draft{ID: s.id(), OccurredAt: s.now, Event: e}
	if _, err := eventlog.AppendEnd(s.tb.Context(), s.log, stream, d); err != nil {
		s.tb.Fatal(err)
	}
}

// last is the position of the last record.
func (s *script) last() events.Position {
	s.tb.Helper()
	last, err := s.log.Last(s.tb.Context())
	if err != nil {
		s.tb.Fatal(err)
	}
	return last
}

// begin starts a life of the daemon under settings, which the script goes by; nil: the settings are not recorded.
func (s *script) begin(settings map[string]string) {
	s.tb.Helper()
	if settings != nil && settings["provider"] == "" {
		settings["provider"] = s.provider
	}
	e := events.DaemonStarted{Version: "test", Settings: settings, Rules: session.DefaultRules().Version}
	if s.silent {
		e.Rules = 0
	}
	s.appendEnd(events.Daemon, e)
	if s.pause.Blames() {
		s.pause.Until = time.Time{} // whoever started it may have mended the provider
	}
}

// end ends a life: turns in flight are interrupted when the next one has begun.
func (s *script) end(clean bool, next map[string]string) {
	s.tb.Helper()
	if clean {
		s.appendEnd(events.Daemon, events.DaemonStopped{Clean: true})
	}
	s.begin(next)
	for name := range s.states {
		if _, ok := s.turns[name]; ok {
			s.must(name, session.Interrupt{ID: s.id(), At: s.now, Clean: clean})
			s.over(name)
		}
	}
}

const (
	observed   = `<observation><type>change</type><title>Retry budget is a setting</title></observation>`
	summarized = `<summary><request>Make it a setting</request><completed>Done</completed></summary>`
	prose      = "I'm observing the primary session and will wait for tool executions."
)
