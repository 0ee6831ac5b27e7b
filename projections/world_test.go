package projections

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/health"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// tb is what testing.TB and rapid.T share.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
	Fatal(args ...any)
	Cleanup(f func())
	Context() context.Context
}

// world is a log into which a test writes what could have happened.
type world struct {
	bare  bool        // what it forgets leaves no numbers
	name  byte        // of the machine, where there are several
	heard []events.ID // rows of other machines that are known here
	tb    tb
	log   eventlog.Log
	now   time.Time
	ids   uint64
	turns []*worldTurn
	// what has been captured and made so far
	inputs map[events.SessionID][]events.Position
	stops  map[events.SessionID][]events.Position
	rows   []events.ID
	words  []events.Position // records whose payloads may be forgotten
	opened map[events.SessionID]bool
	asked  []events.ID // open requests to forget

	model   string // that the next turns ask; empty: small
	notable int    // of the inputs of the next turns

	absent bool // what the next observations claim is not to be found
}

type worldTurn struct {
	id      events.ID
	session events.SessionID
	kind    events.TurnKind
	settles []events.Position
	ended   bool
	bill    *events.Bill // nil: the usual one
}

var epoch = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func newWorld(t tb) *world {
	w := &world{
		tb: t, now: epoch, inputs: map[events.SessionID][]events.Position{}, stops: map[events.SessionID][]events.Position{},
		opened: map[events.SessionID]bool{},
	}
	w.log = logtest.Open(t, eventlog.Config{Now: func() time.Time { return w.now }})
	return w
}

func (w *world) id() events.ID {
	w.ids++
	var id events.ID
	binary.BigEndian.PutUint64(id[:], uint64(w.now.UnixMilli())<<16|0x7000)
	binary.BigEndian.PutUint64(id[8:], 1<<63|uint64(w.name)<<40|w.ids)
	return id
}

// say appends events to a stream in one append, all of one turn if turn is not zero.
func (w *world) say(stream events.StreamID, turn events.ID, evs ...events.Event) []events.Record {
	w.tb.Helper()
	var drafts []events.Draft
	for _, e := range evs {
		w.now = w.now.Add(7 * time.Second)
		d := events.Draft{ID: w.id(), OccurredAt: w.now, Correlation: turn, Event: e}
		if t, ok := e.(events.ToolUsed); ok {
			d.Unobserved = t.Unobserved != ""
		}
		if s, ok := e.(events.AgentStopped); ok {
			d.Unobserved = s.Work == 0
		}
		drafts = append(drafts, d)
	}
	records, err := eventlog.AppendEnd(context.Background(), w.log, stream, drafts...)
	if err != nil {
		w.tb.Fatal(err)
	}
	for _, r := range records {
		w.note(r)
	}
	return records
}

func (w *world) note(r events.Record) {
	session, _ := r.Stream.Session()
	if r.IsInput() && r.Kind == events.KindAgentStopped {
		w.stops[session] = append(w.stops[session], r.Position)
	} else if r.IsInput() {
		w.inputs[session] = append(w.inputs[session], r.Position)
	}
	if engine.Forgettable(r) {
		w.words = append(w.words, r.Position)
	}
}

func sessionOf(n int) events.SessionID { return events.SessionIDOf("claude-code", fmt.Sprint("s", n)) }

// sessionOf is a session of the machine. Those with low numbers are on all machines.
func (w *world) sessionOf(n int) events.SessionID {
	if w.name == 0 || n < 2 {
		return sessionOf(n)
	}
	return events.SessionIDOf("claude-code", fmt.Sprint("s", n, " of ", w.name))
}

func (w *world) open(n int) events.SessionID {
	s := w.sessionOf(n)
	w.opened[s] = true
	w.say(s.Stream(), events.ID{}, events.SessionOpened{
		Agent: "claude-code", AgentSession: fmt.Sprint("s", n), Project: fmt.Sprint("p", n%2),
		ProjectRoot: fmt.Sprint("/home/u/p", n%2), GitRoot: fmt.Sprint("/home/u/p", n%2), Cwd: fmt.Sprint("/home/u/p", n%2), Source: "startup",
		ProjectKey: []string{"", "dir:/home/u", "remote:example.org/u/p"}[n%3],
	})
	return s
}

func (w *world) start(s events.SessionID, kind events.TurnKind, settles ...events.Position) *worldTurn {
	t := &worldTurn{id: w.id(), session: s, kind: kind, settles: settles}
	w.say(s.Stream(), t.id, events.TurnStarted{
		Turn: t.id, TurnKind: kind, Generation: 1, Provider: "anthropic", Model: cmp.Or(w.model, "small"), Settles: settles, PromptBytes: 900,
		Attempt: 1, Notable: w.notable,
	})
	w.turns = append(w.turns, t)
	return t
}

func received(t *worldTurn) events.TurnReceived {
	e := events.TurnReceived{
		Turn: t.id, Form: events.FormXML, Output: events.NewOutput("<observation/>"), StopReason: "end_turn",
		Usage: events.Usage{Input: 100, Cached: 10, Output: 30}, LatencyMS: 1200,
	}
	if b := t.bill; b != nil {
		e = e.WithBill(*b)
	}
	return e
}

func anyBill(t *rapid.T) *events.Bill {
	return &events.Bill{
		Usage: events.Usage{Input: rapid.Int64Range(0, 9).Draw(t, "input"), Output: rapid.Int64Range(0, 1).Draw(t, "output")},
		Cost:  rapid.SampledFrom([]float64{0, 0, 0.125, 0.1}).Draw(t, "usd"), Calls: rapid.IntRange(0, 3).Draw(t, "calls"),
		Model: rapid.SampledFrom([]string{"", "", "small-0101", "large"}).Draw(t, "answered"), CostStated: rapid.Bool().Draw(t, "told"),
		Uncosted: events.Usage{Input: rapid.Int64Range(0, 1).Draw(t, "unstated")}, SentBytes: rapid.SampledFrom([]int64{0, 0, 1234}).Draw(t, "sent"),
	}
}

func (w *world) observation(t *worldTurn, title string) events.ObservationParsed {
	o := events.ObservationParsed{
		Observation: w.id(), Turn: t.id, Type: "bugfix", Title: title, Narrative: "it was " + title,
		Facts: []string{"one"}, Concepts: []string{"how-it-works"}, FilesRead: []string{"/home/u/p0/a.go"}, FilesModified: []string{"b.go"},
		Claims: []events.Claim{{Kind: "commit", Value: "abc1234", Verdict: events.Verified}}, Prompt: 1,
	}
	if w.absent {
		o.Claims[0].Verdict = events.Absent
	}
	w.rows = append(w.rows, o.Observation)
	return o
}

func (w *world) summary(t *worldTurn) events.SummaryParsed {
	s := events.SummaryParsed{Summary: w.id(), Turn: t.id, Request: "do it", NextSteps: "rest", Prompt: 1}
	if w.absent {
		s.Claims = []events.Claim{{Kind: "commit", Value: "abc1234", Verdict: events.Absent}}
	}
	w.rows = append(w.rows, s.Summary)
	return s
}

// keep ends a turn with observations, or with a summary if it is a summary turn.
func (w *world) keep(t *worldTurn, titles ...string) []events.Record {
	t.ended = true
	evs := []events.Event{received(t)}
	for _, title := range titles {
		evs = append(evs, w.observation(t, title))
	}
	if t.kind == events.TurnSummary {
		evs = append(evs, w.summary(t))
	}
	return w.say(t.session.Stream(), t.id, evs...)
}

func (w *world) skip(t *worldTurn) []events.Record {
	t.ended = true
	return w.say(t.session.Stream(), t.id, received(t), events.OutputSkipped{Turn: t.id, Reason: "skip_summary", Stated: events.NewOutput("nothing new")})
}

// blank ends a turn with an output that says nothing.
func (w *world) blank(t *worldTurn) []events.Record {
	t.ended = true
	var e events.Event = events.OutputSkipped{Turn: t.id, Reason: events.ReasonEmpty}
	if t.kind == events.TurnSummary {
		e = events.OutputDropped{Turn: t.id, Class: "idle", Reason: "missing_summary"}
	}
	return w.say(t.session.Stream(), t.id, received(t), e)
}

func (w *world) drop(t *worldTurn) []events.Record {
	t.ended = true
	return w.say(t.session.Stream(), t.id, received(t), events.OutputDropped{
		Turn: t.id, Class: "prose", Reason: "no_xml", Preview: events.NewOutput("I am sorry"), Length: 10,
	})
}

// refresh ends a turn with an output that does not parse and earns the observer a fresh generation.
func (w *world) refresh(t *worldTurn) []events.Record {
	t.ended = true
	return w.say(t.session.Stream(), t.id, received(t), events.OutputDropped{Turn: t.id, Class: "prose", Reason: "no_xml"},
		events.SessionRespawned{To: 1, Cause: "unparseable", Counted: events.Counted{Unparseable: 5}})
}

func (w *world) fail(t *worldTurn) {
	t.ended = true
	e := events.TurnFailed{Turn: t.id, Class: events.FailLimit, Status: 429, Message: "slow down", Provider: "anthropic"}
	if b := t.bill; b != nil {
		e = e.WithBill(*b)
	}
	w.say(t.session.Stream(), t.id, e)
}

func (w *world) tool(s events.SessionID, input string) events.Position {
	return w.say(s.Stream(), events.ID{}, events.ToolUsed{Tool: "Edit", Input: input, Output: "ok", Cwd: "/home/u/p0"})[0].Position
}

// spent is what a MemoryForgotten that names positions says of turns; nothing where w forgets as it once was done.
func (w *world) spent(at []events.Position) (spent []events.TurnSpent) {
	for _, p := range at {
		r, err := w.log.Get(context.Background(), p)
		if err != nil {
			w.tb.Fatal(err)
		}
		e, _ := r.Event()
		switch e := e.(type) {
		case events.TurnReceived:
			spent = append(spent, events.TurnSpent{Turn: e.Turn, Bill: e.Bill()})
		case events.TurnFailed:
			spent = append(spent, events.TurnSpent{Turn: e.Turn, Class: e.Class, Bill: e.Bill()})
		}
	}
	if w.bare {
		return nil
	}
	return spent
}

// forget appends a MemoryForgotten to each stream in question and erases, in either order.
func (w *world) forget(first bool, at []events.Position, ids ...events.ID) {
	w.tb.Helper()
	named := map[events.StreamID][]events.Position{}
	var streams []events.StreamID
	for _, p := range at {
		r, err := w.log.Get(context.Background(), p)
		if err != nil {
			w.tb.Fatal(err)
		}
		if named[r.Stream] == nil {
			streams = append(streams, r.Stream)
		}
		named[r.Stream] = append(named[r.Stream], p)
	}
	if len(ids) > 0 && named[events.Daemon] == nil {
		streams = append(streams, events.Daemon)
	}
	spent := map[events.StreamID][]events.TurnSpent{}
	for stream, at := range named {
		spent[stream] = w.spent(at)
	}
	erase := func() {
		if err := w.log.Erase(context.Background(), at...); err != nil {
			w.tb.Fatal(err)
		}
	}
	if first {
		erase()
	}
	for _, stream := range streams {
		e := events.MemoryForgotten{Positions: named[stream], Cause: "person", Spent: spent[stream]}
		if stream == events.Daemon {
			e.IDs = ids
		}
		w.say(stream, events.ID{}, e)
	}
	if !first {
		erase()
	}
}

// step lets one thing happen, chosen by rapid.
func (w *world) step(t *rapid.T) {
	n := rapid.IntRange(0, 3).Draw(t, "session")
	s := w.sessionOf(n)
	if !w.opened[s] {
		w.open(n)
		return
	}
	if rapid.IntRange(0, 9).Draw(t, "rest") == 0 {
		w.now = w.now.Add(rapid.SampledFrom([]time.Duration{4 * time.Minute, 50 * time.Minute, 26 * time.Hour, health.Kept}).Draw(t, "for"))
	}
	steps := []func(*rapid.T, events.SessionID){
		w.stepTool, w.stepTool, w.stepTool, w.stepPrompt, w.stepStop, w.stepTurn, w.stepTurn, w.stepEnd, w.stepEnd, w.stepEnd,
		w.stepGiveUp, w.stepReobserve, w.stepForget, w.stepMemory, w.stepRequest, w.stepSupervision, w.stepSession,
	}
	if w.name != 0 {
		steps = append(steps, w.stepHeard, w.stepHeard, w.stepHeard)
	}
	rapid.SampledFrom(steps).Draw(t, "step")(t, s)
}

func (w *world) stepTool(t *rapid.T, s events.SessionID) {
	tool := events.ToolUsed{Tool: "Edit", Cwd: "/home/u/p0", Failed: rapid.Bool().Draw(t, "failed")}
	tool.Input = rapid.SampledFrom([]string{
		`{"file_path":"/home/u/p0/a.go","old_string":"x"}`, `{"file_path":"c/d.go"}`, `{"command":"ls"}`, ``,
	}).Draw(t, "input")
	if rapid.IntRange(0, 9).Draw(t, "own") == 0 {
		tool.Unobserved, tool.Named = "own", rapid.SampledFrom([][]string{nil, {"m4"}}).Draw(t, "named")
	}
	w.say(s.Stream(), events.ID{}, tool)
}

func (w *world) stepPrompt(t *rapid.T, s events.SessionID) {
	said := []events.Event{events.PromptSubmitted{Number: 1, Text: "please", Private: rapid.Bool().Draw(t, "private")}}
	for _, rule := range rapid.SliceOfN(rapid.SampledFrom([]string{"always", "never"}), 0, 2).Draw(t, "rules") {
		said = append(said, events.PreferenceStated{Sentence: rule, Same: events.KeyOf(rule), Prompt: 1})
	}
	for _, r := range w.say(s.Stream(), events.ID{}, said...)[1:] {
		w.rows = append(w.rows, r.ID)
	}
}

func (w *world) stepStop(t *rapid.T, s events.SessionID) {
	w.say(s.Stream(), events.ID{}, events.AgentStopped{LastMessage: "done", Cause: events.StopDone, Work: rapid.IntRange(0, 1).Draw(t, "work")})
}

func (w *world) stepTurn(t *rapid.T, s events.SessionID) {
	kind, from := events.TurnObservation, w.inputs[s]
	if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
		kind, from = events.TurnSummary, w.stops[s]
	}
	if len(from) == 0 {
		return
	}
	w.notable, w.model = rapid.IntRange(0, 1).Draw(t, "notable"), rapid.SampledFrom([]string{"small", "large"}).Draw(t, "model")
	w.start(s, kind, rapid.SliceOfNDistinct(rapid.SampledFrom(from), 1, min(4, len(from)), rapid.ID).Draw(t, "settles")...)
}

func (w *world) stepEnd(t *rapid.T, s events.SessionID) {
	for _, turn := range w.turns {
		if turn.ended || turn.session != s {
			continue
		}
		turn.bill = anyBill(t)
		switch rapid.IntRange(0, 8).Draw(t, "end") {
		case 0:
			w.skip(turn)
		case 6:
			w.blank(turn)
		case 8:
			w.refresh(turn)
		case 7:
			w.say(s.Stream(), turn.id, events.TurnFailed{Turn: turn.id, Class: events.FailCrash}, events.SessionQuarantined{Cause: "intensity", Trip: 1})
			turn.ended = true
		case 1:
			w.drop(turn)
		case 2:
			w.fail(turn)
		default:
			w.absent = rapid.Bool().Draw(t, "absent")
			w.keep(turn, rapid.SliceOfN(rapid.SampledFrom([]string{"a leak", "A  leak", "a race"}), 1, 2).Draw(t, "titles")...)
		}
		return
	}
}

func (w *world) stepGiveUp(t *rapid.T, s events.SessionID) {
	if len(w.inputs[s]) == 0 {
		return
	}
	in := rapid.SliceOfN(rapid.SampledFrom(w.inputs[s]), 1, 2).Draw(t, "inputs")
	w.say(s.Stream(), events.ID{}, events.InputsDropped{Inputs: in, Reason: events.DropPoison})
}

func (w *world) stepReobserve(t *rapid.T, s events.SessionID) {
	for _, turn := range w.turns {
		if turn.ended && turn.session == s && rapid.Bool().Draw(t, "this") {
			w.say(s.Stream(), events.ID{}, events.ReobserveRequested{Turns: []events.ID{turn.id}, Inputs: turn.settles})
			w.start(s, turn.kind, turn.settles...)
			return
		}
	}
}

func (w *world) stepForget(t *rapid.T, _ events.SessionID) {
	if len(w.words) == 0 || rapid.IntRange(0, 2).Draw(t, "forget") > 0 {
		return
	}
	at := rapid.SliceOfN(rapid.SampledFrom(w.words), 1, 3).Draw(t, "positions")
	var ids []events.ID
	if len(w.rows) > 0 && rapid.Bool().Draw(t, "by id") {
		ids = append(ids, rapid.SampledFrom(w.rows).Draw(t, "row"))
	}
	if rapid.IntRange(0, 4).Draw(t, "elsewhere") == 0 { // no input is forgotten by it
		w.say(rapid.SampledFrom([]events.StreamID{events.Daemon, sessionOf(0).Stream()}).Draw(t, "stream"), events.ID{},
			events.MemoryForgotten{Positions: at, IDs: ids})
		if err := w.log.Erase(context.Background(), at...); err != nil {
			w.tb.Fatal(err)
		}
		return
	}
	w.bare = rapid.Bool().Draw(t, "as it once was")
	w.forget(rapid.Bool().Draw(t, "erase first"), at, ids...)
}

// stepHeard decides something of what another machine told.
func (w *world) stepHeard(t *rapid.T, _ events.SessionID) {
	all := slices.Concat(w.heard, w.rows)
	if len(all) == 0 {
		return
	}
	row, by := rapid.SampledFrom(all).Draw(t, "row"), rapid.SampledFrom(all).Draw(t, "by")
	switch rapid.IntRange(0, 5).Draw(t, "what") {
	case 0, 1:
		w.say(events.Daemon, events.ID{}, events.MemorySuperseded{Memory: row, By: rapid.SampledFrom([]events.ID{row, by, {}}).Draw(t, "by")})
	case 2, 3:
		w.say(events.Daemon, events.ID{}, events.MemoryConfirmed{Memory: row, Withdrawn: rapid.Bool().Draw(t, "withdrawn")})
	case 4:
		e := events.ForgetRequested{Request: w.id(), IDs: []events.ID{row, by}, Writer: events.WriterAgent}
		w.asked = append(w.asked, e.Request)
		w.say(events.Daemon, events.ID{}, e)
	default:
		root := rapid.SampledFrom([]string{"/home/u/p0", "/home/u/p1"}).Draw(t, "root")
		w.say(events.Projects, events.ID{}, rapid.SampledFrom([]events.Event{
			events.ProjectJoined{Root: root, Key: "dir:/home/u"}, events.ProjectParted{Root: root},
			events.ProjectGiven{Name: "p0", Root: root}, events.ProjectGiven{Name: "p0"},
		}).Draw(t, "word"))
	}
}

func (w *world) stepMemory(t *rapid.T, s events.SessionID) {
	if len(w.rows) > 1 {
		a, b := rapid.SampledFrom(w.rows).Draw(t, "old"), rapid.SampledFrom(w.rows).Draw(t, "new")
		switch rapid.IntRange(0, 3).Draw(t, "what") {
		case 0:
			by := rapid.SampledFrom([]events.ID{a, b, {}}).Draw(t, "by")
			w.say(events.Daemon, events.ID{}, events.MemorySuperseded{Memory: a, By: by})
			return
		case 1:
			w.say(s.Stream(), events.ID{}, events.ClaimChecked{Subject: a, Claim: events.Claim{
				Kind: "commit", Value: "abc1234", Verdict: rapid.SampledFrom([]events.Verdict{events.Absent, events.Verified}).Draw(t, "verdict"),
			}})
			return
		case 2:
			undone := events.Undone{Observation: a, By: 7, How: rapid.SampledFrom([]events.Undoing{events.UndoneRewritten, events.UndoneRestored}).Draw(t, "how")}
			w.say(s.Stream(), events.ID{}, events.WorkUndone{Rows: []events.Undone{undone}})
			return
		}
	}
	m := events.MemorySaved{Memory: w.id(), Project: "p0", ProjectRoot: "/home/u/p0", Title: "note", Text: "remember", At: w.now.AddDate(0, 0, -3)}
	w.rows = append(w.rows, m.Memory)
	w.say(events.Daemon, events.ID{}, m)
}

// stepRequest has rows asked to be forgotten, or such a request settled.
func (w *world) stepRequest(t *rapid.T, _ events.SessionID) {
	if len(w.asked) > 0 && rapid.Bool().Draw(t, "settle") {
		w.say(events.Daemon, events.ID{}, events.ForgetSettled{Request: rapid.SampledFrom(w.asked).Draw(t, "request"), Outcome: events.SettleRefused})
		return
	}
	if len(w.rows) > 0 {
		e := events.ForgetRequested{Request: w.id(), IDs: rapid.SliceOfN(rapid.SampledFrom(w.rows), 1, 3).Draw(t, "wanted"), Writer: events.WriterAgent}
		for _, inputs := range w.inputs {
			e.Positions = append(e.Positions, inputs[max(0, len(inputs)-2):]...)
		}
		slices.Sort(e.Positions)
		w.asked = append(w.asked, e.Request)
		w.say(events.Daemon, events.ID{}, e)
	}
}

func (w *world) stepSupervision(t *rapid.T, s events.SessionID) {
	evs := []events.Event{
		events.SessionRespawned{From: 1, To: 2, Cause: "crash"}, events.SessionQuarantined{Cause: "intensity", Trip: 1}, events.SessionReleased{By: "probe"},
	}
	n := rapid.IntRange(0, 6).Draw(t, "what")
	switch {
	case n < len(evs):
		w.say(s.Stream(), events.ID{}, evs[n])
	case n == 3:
		p := events.ProviderPaused{Class: events.FailLimit, Probe: 1}
		if len(w.turns) > 0 && rapid.Bool().Draw(t, "told") {
			p.Turn = w.turns[len(w.turns)-1].id
		}
		w.say(events.ProviderStream("anthropic"), events.ID{}, p)
	case n == 4:
		w.say(events.ProviderStream("anthropic"), events.ID{}, events.ProviderResumed{By: "probe"})
	default:
		w.say(events.Daemon, events.ID{}, events.DaemonDegraded{Why: "3 quarantined", Cleared: n == 5})
	}
}

func (w *world) stepSession(t *rapid.T, s events.SessionID) {
	switch rapid.IntRange(0, 3).Draw(t, "what") {
	case 0:
		w.say(s.Stream(), events.ID{}, events.SessionClosed{Cause: "exit"})
	case 1:
		w.say(s.Stream(), events.ID{}, events.ContextInjected{Hook: "startup", IDs: w.rows, Characters: 10})
	case 2:
		w.say(s.Stream(), events.ID{}, events.ContextCompacted{Summary: "so far"})
	default:
		root := rapid.SampledFrom([]string{"/home/u/p0", "/home/u/p1"}).Draw(t, "root")
		w.say(s.Stream(), events.ID{}, events.SessionOpened{Agent: "claude-code", Project: root[8:], ProjectRoot: root, Source: "resume"})
	}
}

// dump is everything that views hold, one line a value.
func dump(t tb, v *Views) []string {
	t.Helper()
	var lines []string
	var walked error
	err := v.Read(context.Background(), func(r *engine.ReadTx) {
		walked = r.File.ForEach(func(name []byte, b *bolt.Bucket) error { return dumpBucket(string(name), b, &lines) })
	})
	if err = errors.Join(err, walked); err != nil {
		t.Fatal(err)
	}
	return lines
}

func dumpBucket(path string, b *bolt.Bucket, lines *[]string) error {
	return b.ForEach(func(k, raw []byte) error {
		if raw == nil {
			return dumpBucket(path+"/"+string(k), b.Bucket(k), lines)
		}
		*lines = append(*lines, fmt.Sprintf("%s %x = %x", path, k, raw))
		return nil
	})
}

func mustOpen(t testing.TB, dir string, log eventlog.Log, cfg engine.Config) *Views {
	t.Helper()
	v, err := Open(dir, log, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}
