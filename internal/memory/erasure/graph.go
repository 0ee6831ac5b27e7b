package erasure

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// graph is what was made of what in one stream.
type graph struct {
	stream  events.StreamID
	opened  events.SessionOpened // the last one
	nodes   []node               // by version
	at      map[events.Position]int
	prompts []events.Position
	turns   []turn // by their beginning
	turnOf  map[events.ID]int
	rows    map[events.ID]events.Position // what turns kept, as far as its words are there
	checks  []check
	gone    map[events.ID]bool // rows that the stream says are forgotten
	stated  []statement
}

// check is a later check of a claim of a row: it repeats what that says.
type check struct {
	at  events.Position
	row events.ID
}

// statement is a preference, and where it stands.
type statement struct{ at, in events.Position }

// node is one record that may be erased, or that a turn was asked about.
type node struct {
	events.Header
	words bool // it carries somebody's words, and they are there still
}

// turn is what one request to the observer was made of, and what came of it.
type turn struct {
	kind    events.TurnKind
	settles []events.Position
	prompt  []events.Position // all that it was asked about: what it settles and reads, and the user's prompt
	request events.Position   // that prompt alone; 0: none
	said    []events.Position
}

// readGraph reads a stream to its end.
func readGraph(ctx context.Context, log eventlog.Log, stream events.StreamID) (*graph, error) {
	g := &graph{
		stream: stream, at: map[events.Position]int{}, turnOf: map[events.ID]int{}, rows: map[events.ID]events.Position{},
		gone: map[events.ID]bool{},
	}
	for r, err := range log.Stream(ctx, stream, 1) {
		if err != nil {
			return nil, fmt.Errorf("erasure: read %s: %w", stream, err)
		}
		if err := g.add(r); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (g *graph) add(r events.Record) error {
	if err := g.learn(r); err != nil {
		return err
	}
	switch r.Kind {
	case events.KindSessionOpened, events.KindTurnStarted:
		return nil
	case events.KindPromptSubmitted:
		g.prompts = append(g.prompts, r.Position)
	}
	words := erasable(r)
	if r.Kind == events.KindPreferenceStated {
		g.stated = append(g.stated, statement{r.Position, g.source()})
	}
	g.at[r.Position] = len(g.nodes)
	g.nodes = append(g.nodes, node{r.Header, words})
	if i, ok := g.turnOf[r.Correlation]; ok && words {
		g.turns[i].said = append(g.turns[i].said, r.Position)
	}
	return nil
}

// source is the prompt or tool use that a preference stands in which comes next.
func (g *graph) source() events.Position {
	for _, n := range slices.Backward(g.nodes) {
		if n.Kind != events.KindPreferenceStated {
			return n.Position
		}
	}
	return 0
}

// learn takes what tells what was made of what from r.
func (g *graph) learn(r events.Record) error {
	if t, _ := r.Kind.Traits(); !t.Lineage {
		return nil
	}
	e, err := said(r)
	if err != nil {
		return err
	}
	switch e := e.(type) {
	case events.SessionOpened:
		g.opened = e
	case events.TurnStarted:
		t := turn{kind: e.TurnKind, settles: e.Settles, prompt: slices.Concat(e.Settles, e.Reads)}
		if n := e.Prompt; n > 0 && n <= len(g.prompts) {
			t.request = g.prompts[n-1]
			t.prompt = append(t.prompt, t.request)
		}
		g.turnOf[e.Turn] = len(g.turns)
		g.turns = append(g.turns, t)
	case events.ObservationParsed:
		g.rows[e.Observation] = r.Position
	case events.SummaryParsed:
		g.rows[e.Summary] = r.Position
	case events.ClaimChecked:
		g.checks = append(g.checks, check{at: r.Position, row: e.Subject})
	case events.MemoryForgotten:
		for _, id := range e.IDs {
			g.gone[id] = true
		}
	}
	return nil
}

// said is what r says; nil where that is erased.
func said(r events.Record) (events.Event, error) {
	e, err := r.Event()
	switch {
	case errors.Is(err, events.ErrErased):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("erasure: %w", err)
	}
	return e, nil
}

// erasable reports whether r carries somebody's words and still has them. A turn that was cut says nothing.
func erasable(r events.Record) bool {
	if r.Erased || !engine.Forgettable(r) {
		return false
	}
	if r.Kind != events.KindTurnFailed {
		return true
	}
	e, _ := r.Event()
	f, ok := e.(events.TurnFailed)
	return !ok || f.Class != events.FailInterrupted || !f.Output.IsZero() // what cannot be read may be anything
}

// set is positions of one stream that are to go.
type set map[events.Position]bool

func (s set) add(at ...events.Position) {
	for _, p := range at {
		s[p] = true
	}
}

func (s set) containsAny(at []events.Position) bool {
	return slices.ContainsFunc(at, func(p events.Position) bool { return s[p] })
}

// node is that of a position; the zero node where there is none.
func (g *graph) node(p events.Position) node {
	if i, ok := g.at[p]; ok {
		return g.nodes[i]
	}
	return node{}
}

// words are the positions of all that carries words, up to one.
func (g *graph) words(through events.Position) (at []events.Position) {
	for _, n := range g.nodes {
		if n.words && n.Position <= through {
			at = append(at, n.Position)
		}
	}
	return at
}

// share is what goes of the stream.
func (g *graph) share(gone set) Share {
	sh := Share{
		Records: len(gone), Kinds: map[events.Kind]int{}, Agent: g.opened.Agent, Project: g.opened.Project, stream: g.stream,
	}
	sh.Session, _ = g.stream.Session()
	for _, n := range g.nodes {
		if gone[n.Position] {
			sh.Positions = append(sh.Positions, n.Position)
			sh.Kinds[n.Kind]++
			sh.Bytes += int64(n.Size)
		}
	}
	return sh
}

// reach says how far what is named reaches towards where it came from.
type reach struct {
	whole   bool              // all that the stream says is named
	origins bool              // beside prompts and last messages of which nothing else was made
	rows    []events.Position // observations and summaries: what their turns settled goes too; preferences: what they stand in
	prompts []events.Position // what was done for them goes too
	others  []events.Position // only what was made of them goes too
}

// follow returns what goes with what is named: everything that was made of it, of what was made of it, and so on; and
// what it was itself made of, as far as reach says.
func (g *graph) follow(r reach) set {
	gone := set{}
	gone.add(slices.Concat(r.rows, r.prompts, r.others)...)
	for _, p := range r.rows {
		if i, ok := g.turnOf[g.node(p).Correlation]; ok {
			gone.add(g.turns[i].settles...)
		}
	}
	for _, s := range g.stated {
		if slices.Contains(r.rows, s.at) {
			gone.add(s.in)
		}
	}
	for _, p := range r.prompts {
		g.served(p, gone)
	}
	if outputs := g.down(gone); r.origins {
		g.contexts(gone, outputs)
	}
	maps.DeleteFunc(gone, func(p events.Position, _ bool) bool { return !g.node(p).words })
	return gone
}

// made lists what was made of what is known to be forgotten, whether its words are there still or not.
func (g *graph) made(known set) []events.Position {
	gone := maps.Clone(known)
	g.down(gone)
	maps.DeleteFunc(gone, func(p events.Position, _ bool) bool { return known[p] || !g.node(p).words })
	return slices.Sorted(maps.Keys(gone))
}

// served adds the inputs of the work that a prompt asked for.
func (g *graph) served(prompt events.Position, gone set) {
	i, ok := g.at[prompt]
	if !ok {
		return
	}
	for _, n := range g.nodes[i+1:] {
		if n.Kind == events.KindPromptSubmitted {
			return
		}
		if n.words && events.IsInput(n.Kind) {
			gone.add(n.Position)
		}
	}
}

// down adds what was made of what is gone, preferences that stand in it, and later checks of its claims. Turns read only what was
// there before them, so one pass finds all. It reports by turn whether its outputs go.
func (g *graph) down(gone set) (outputs []bool) {
	outputs = make([]bool, len(g.turns))
	for i, t := range g.turns {
		outputs[i] = gone.containsAny(t.said) || gone.containsAny(t.prompt)
		if outputs[i] {
			gone.add(t.said...)
		}
	}
	for _, s := range g.stated {
		if gone[s.in] {
			gone.add(s.at)
		}
	}
	for _, c := range g.checks {
		if at, ok := g.rows[c.row]; g.gone[c.row] || ok && gone[at] {
			gone.add(c.at)
		}
	}
	return outputs
}

// contexts adds the prompts and what the agent said that only turns were asked about whose outputs go. A summary tells of all its
// session, so that it goes with much that its own prompt and stop know nothing of.
func (g *graph) contexts(gone set, outputs []bool) {
	others := set{} // what turns were asked about whose outputs stay
	for i, t := range g.turns {
		if !outputs[i] {
			others.add(t.prompt...)
		}
	}
	for i, t := range g.turns {
		if t.kind == events.TurnSummary && !g.ended(t, gone) {
			continue
		}
		for _, p := range t.prompt {
			k := g.node(p).Kind
			if outputs[i] && !others[p] && (p == t.request || k == events.KindAgentStopped || k == events.KindAgentSaid) {
				gone.add(p)
			}
		}
	}
}

// ended reports whether any of what goes is a stop that t settles, or was done between that and the stop before.
func (g *graph) ended(t turn, gone set) bool {
	for _, stop := range t.settles {
		i, ok := g.at[stop]
		if gone[stop] {
			return true
		}
		for i--; ok && i >= 0 && g.nodes[i].Kind != events.KindAgentStopped; i-- {
			if n := g.nodes[i]; gone[n.Position] && events.IsInput(n.Kind) {
				return true
			}
		}
	}
	return false
}

// stays lists what turns were asked about whose outputs go, and what is kept all the same: other memory was made of it too.
func (g *graph) stays(gone set) []events.Position {
	kept := set{}
	for _, t := range g.turns {
		if !gone.containsAny(t.said) {
			continue
		}
		for _, p := range t.prompt {
			if g.node(p).words && !gone[p] {
				kept.add(p)
			}
		}
	}
	return slices.Sorted(maps.Keys(kept))
}
