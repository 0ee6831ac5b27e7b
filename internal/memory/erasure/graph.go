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
	stream events.StreamID
	opened []events.SessionOpened
	nodes  []node // by version
	at     map[events.Position]int
	turns  []turn // by their beginning
	turnOf map[events.ID]int
	rows   map[events.ID]events.Position // what turns kept, as far as its words are there
	looks  []look                        // at claims of rows, later
	gone   map[events.ID]bool            // rows that the stream says are forgotten
}

// look is a node that looks at a claim of a row again, and repeats what it says.
type look struct {
	node int
	row  events.ID
}

// node is one record that may be erased, or that a turn was asked about.
type node struct {
	header  events.Header
	words   bool // it carries somebody's words, and they are there still
	prompts int  // of the session up to and with it
}

// turn is what one request to the observer was made of, and what came of it.
type turn struct {
	id     events.ID
	from   []events.Position // settled
	read   []events.Position
	prompt int
	said   []int // nodes
}

// readGraph reads a stream up to a position; 0: to its end.
func readGraph(ctx context.Context, log eventlog.Log, stream events.StreamID, through events.Position) (*graph, error) {
	g := &graph{
		stream: stream, at: map[events.Position]int{}, turnOf: map[events.ID]int{}, rows: map[events.ID]events.Position{},
		gone: map[events.ID]bool{},
	}
	prompts := 0
	for r, err := range log.Stream(ctx, stream, 1) {
		if err != nil {
			return nil, fmt.Errorf("erasure: read %s: %w", stream, err)
		}
		if through > 0 && r.Position > through {
			break
		}
		if r.Kind == events.KindPromptSubmitted {
			prompts++
		}
		if err := g.add(r, prompts); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (g *graph) add(r events.Record, prompts int) error {
	if err := g.learn(r, len(g.nodes)); err != nil {
		return err
	}
	if r.Kind == events.KindSessionOpened || r.Kind == events.KindTurnStarted {
		return nil
	}
	words, err := erasable(r)
	if err != nil {
		return err
	}
	g.at[r.Position] = len(g.nodes)
	g.nodes = append(g.nodes, node{header: r.Header, words: words, prompts: prompts})
	if i, ok := g.turnOf[r.Correlation]; ok && words {
		g.turns[i].said = append(g.turns[i].said, len(g.nodes)-1)
	}
	return nil
}

// learn takes what tells what was made of what from r, which is the node of that number, if it is one.
func (g *graph) learn(r events.Record, node int) error {
	if t, _ := r.Kind.Traits(); !t.Lineage {
		return nil
	}
	e, err := r.Event()
	if errors.Is(err, events.ErrErased) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("erasure: %w", err)
	}
	switch e := e.(type) {
	case events.SessionOpened:
		g.opened = append(g.opened, e)
	case events.TurnStarted:
		g.turnOf[e.Turn] = len(g.turns)
		g.turns = append(g.turns, turn{id: e.Turn, from: e.Settles, read: e.Reads, prompt: e.Prompt})
	case events.ObservationParsed:
		g.rows[e.Observation] = r.Position
	case events.SummaryParsed:
		g.rows[e.Summary] = r.Position
	case events.ClaimChecked:
		g.looks = append(g.looks, look{node: node, row: e.Subject})
	case events.MemoryForgotten:
		for _, id := range e.IDs {
			g.gone[id] = true
		}
	}
	return nil
}

// erasable reports whether r carries somebody's words and still has them. A turn that was cut says nothing.
func erasable(r events.Record) (bool, error) {
	if r.Erased || !engine.Forgettable(r) {
		return false, nil
	}
	if r.Kind != events.KindTurnFailed {
		return true, nil
	}
	e, err := r.Event()
	if err != nil {
		return true, nil // it cannot be read, so that it may be anything
	}
	f, ok := e.(events.TurnFailed)
	return !ok || f.Class != events.FailInterrupted || !f.Output.IsZero(), nil
}

// set is positions of one stream that are to go.
type set map[events.Position]bool

func (s set) any(at []events.Position) bool {
	return slices.ContainsFunc(at, func(p events.Position) bool { return s[p] })
}

// words are the positions of all that carries words, up to one.
func (g *graph) words(through events.Position) (at []events.Position) {
	for _, n := range g.nodes {
		if n.words && n.header.Position <= through {
			at = append(at, n.header.Position)
		}
	}
	return at
}

// share is what goes of the stream.
func (g *graph) share(id events.SessionID, gone set) Share {
	sh := Share{Session: id, Records: len(gone), Kinds: map[events.Kind]int{}, stream: g.stream}
	for _, n := range g.nodes {
		if gone[n.header.Position] {
			sh.Positions = append(sh.Positions, n.header.Position)
			sh.Kinds[n.header.Kind]++
			sh.Bytes += int64(n.header.Size)
		}
	}
	if n := len(g.opened); n > 0 {
		sh.Agent, sh.Project = g.opened[n-1].Agent, g.opened[n-1].Project
	}
	return sh
}

// reach says how far what is named reaches towards where it came from.
type reach struct {
	origins bool              // beside prompts and last messages of which nothing else was made
	rows    []events.Position // observations and summaries: what their turns settled goes too
	prompts []events.Position // what was done for them goes too
	others  []events.Position // only what was made of them goes too
}

// follow returns what goes with what is named: everything that was made of it, of what was made of it, and so on; and
// what it was itself made of, as far as reach says.
func (g *graph) follow(r reach) set {
	gone := set{}
	for _, p := range slices.Concat(r.rows, r.prompts, r.others) {
		gone[p] = true
	}
	for _, p := range r.rows {
		if t, ok := g.turnAt(p); ok {
			for _, from := range t.from {
				gone[from] = true
			}
		}
	}
	for _, p := range r.prompts {
		g.served(p, gone)
	}
	if told := g.down(gone); r.origins {
		g.contexts(gone, told)
	}
	for p := range gone {
		if i, ok := g.at[p]; !ok || !g.nodes[i].words {
			delete(gone, p)
		}
	}
	return gone
}

// made returns what was made of what is known to be forgotten, whether its words are there still or not.
func (g *graph) made(known set) set {
	gone := maps.Clone(known)
	g.down(gone)
	for p := range gone {
		if i, ok := g.at[p]; !ok || !g.nodes[i].words {
			delete(gone, p)
		}
	}
	return gone
}

// turnAt is the turn that said what is at a position.
func (g *graph) turnAt(p events.Position) (turn, bool) {
	i, ok := g.at[p]
	if !ok {
		return turn{}, false
	}
	t, ok := g.turnOf[g.nodes[i].header.Correlation]
	if !ok {
		return turn{}, false
	}
	return g.turns[t], true
}

// served adds the inputs of the work that a prompt asked for.
func (g *graph) served(prompt events.Position, gone set) {
	i, ok := g.at[prompt]
	if !ok {
		return
	}
	number := g.nodes[i].prompts
	for _, n := range g.nodes[i+1:] {
		if n.prompts != number {
			return
		}
		if n.words && events.IsInput(n.header.Kind) {
			gone[n.header.Position] = true
		}
	}
}

// down adds what was made of what is gone, and later looks at its claims. Turns read only what was there before them, so one
// pass finds all. It returns the turns whose outputs go.
func (g *graph) down(gone set) map[events.ID]bool {
	told := map[events.ID]bool{}
	prompts := g.prompts()
	for _, t := range g.turns {
		own := slices.ContainsFunc(t.said, func(i int) bool { return gone[g.nodes[i].header.Position] })
		served := t.prompt > 0 && t.prompt <= len(prompts) && gone[prompts[t.prompt-1]]
		if !own && !served && !gone.any(t.from) && !gone.any(t.read) {
			continue
		}
		told[t.id] = true
		for _, i := range t.said {
			gone[g.nodes[i].header.Position] = true
		}
	}
	for _, l := range g.looks {
		if at, ok := g.rows[l.row]; g.gone[l.row] || ok && gone[at] {
			gone[g.nodes[l.node].header.Position] = true
		}
	}
	return told
}

// prompts are the positions of the session's prompts, in order.
func (g *graph) prompts() []events.Position {
	var at []events.Position
	for _, n := range g.nodes {
		if n.header.Kind == events.KindPromptSubmitted {
			at = append(at, n.header.Position)
		}
	}
	return at
}

// contexts adds the prompts and last messages that only turns were told of whose outputs go.
func (g *graph) contexts(gone set, told map[events.ID]bool) {
	users := map[events.Position][]bool{} // whether the outputs of those who were told of it go
	prompts := g.prompts()
	for _, t := range g.turns {
		for _, p := range slices.Concat(t.from, t.read) {
			users[p] = append(users[p], told[t.id])
		}
		if t.prompt > 0 && t.prompt <= len(prompts) {
			p := prompts[t.prompt-1]
			users[p] = append(users[p], told[t.id])
		}
	}
	for p, all := range users {
		i, ok := g.at[p]
		if !ok || slices.Contains(all, false) {
			continue
		}
		if k := g.nodes[i].header.Kind; k == events.KindPromptSubmitted || k == events.KindAgentStopped {
			gone[p] = true
		}
	}
}

// stays lists what turns whose outputs go were told of, and what is kept all the same: other memory was made of it too.
func (g *graph) stays(gone set) []events.Position {
	near := set{}
	prompts := g.prompts()
	for _, t := range g.turns {
		if !slices.ContainsFunc(t.said, func(i int) bool { return gone[g.nodes[i].header.Position] }) {
			continue
		}
		for _, p := range slices.Concat(t.from, t.read) {
			near[p] = true
		}
		if t.prompt > 0 && t.prompt <= len(prompts) {
			near[prompts[t.prompt-1]] = true
		}
	}
	var list []events.Position
	for p := range near {
		if i, ok := g.at[p]; ok && g.nodes[i].words && !gone[p] {
			list = append(list, p)
		}
	}
	slices.Sort(list)
	return list
}
