package mcp

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/erasure"
)

// now is when these tests happen.
var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// idOf is the same id for the same name.
func idOf(name string) (id events.ID) {
	sum := sha256.Sum256([]byte(name))
	copy(id[:], sum[:])
	id[6] = id[6]&0x0f | 0x70
	return id
}

// memory is rows in a slice, and notes what it was asked.
type memory struct {
	rows   []api.Row
	inputs []api.RawInput
	err    error // of every call, if any

	mu       sync.Mutex // guards the fields below
	searches []api.SearchQuery
	lines    []api.TimelineQuery
	contexts []api.ContextQuery
	reads    []api.RowsQuery
	whys     []api.WhyQuery
	saves    []api.Memory
	plans    []api.ForgetRequest
	forgets  []api.ForgetRequest
	kept     []string // the folders that calls were kept to
	records  int      // that a plan names
	strict   bool     // no other project than those of rows may be reached
	note     string   // of searches
}

func note[T any](m *memory, list *[]T, asked T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*list = append(*list, asked)
}

// Invoke implements api.Invoker.
func (m *memory) Invoke(ctx context.Context, e api.Endpoint, query, answer any, progress func(api.Progress)) (err error) {
	folder, ok := api.Kept(ctx)
	if !ok {
		folder = "not kept"
	}
	note(m, &m.kept, folder)
	switch out := answer.(type) {
	case *api.SearchResults:
		*out, err = m.search(query.(api.SearchQuery))
	case *api.Timeline:
		*out, err = m.timeline(query.(api.TimelineQuery))
	case *api.Rows:
		*out, err = m.observations(query.(api.RowsQuery))
	case *api.Inputs:
		*out, err = m.inputsOf(query.(api.InputsQuery))
	case *api.Why:
		*out, err = m.why(query.(api.WhyQuery))
	case *api.ContextAnswer:
		*out, err = m.context(query.(api.ContextQuery))
	case *api.SessionDetail:
		*out, err = m.session(query.(api.IDQuery).ID)
	case *api.Status:
		*out, err = m.status()
	case *api.Saved:
		*out, err = m.save(query.(api.Memory))
	case *api.ForgetPlan:
		*out, err = m.plan(query.(api.ForgetRequest))
	case *api.Forgotten:
		*out, err = m.forget(ctx, query.(api.ForgetRequest), progress)
	default:
		err = fmt.Errorf("nobody answers %s", e.Path)
	}
	return err
}

func (m *memory) search(q api.SearchQuery) (found api.SearchResults, err error) {
	note(m, &m.searches, q)
	if q.Project == api.EveryProject && m.strict {
		return found, &api.Problem{Type: api.ProblemForbidden, Title: "Of another project", Status: http.StatusForbidden}
	}
	for _, r := range m.rows {
		if q.Project == "" || q.Project == api.EveryProject || q.Project == r.Project || q.Project == r.ProjectRoot {
			found.Results = append(found.Results, inShort(r))
		}
	}
	found.Total, found.Note = len(found.Results), m.note
	found.Results = found.Results[min(q.Offset, found.Total):min(q.Offset+q.Limit, found.Total)]
	return found, m.err
}

func inShort(r api.Row) api.Result {
	return api.Result{ID: r.ID, Handle: r.Handle(), Kind: r.Kind, Title: r.Title, Project: r.Project, At: r.At, Type: r.Type, Tokens: 59, Flagged: r.Flagged, Score: 1.25}
}

func (m *memory) timeline(q api.TimelineQuery) (api.Timeline, error) {
	note(m, &m.lines, q)
	t := api.Timeline{At: now}
	half := len(m.rows) / 2
	for i, r := range m.rows {
		switch it := inShort(r); {
		case i < half:
			t.Before = append(t.Before, it)
		case i == half:
			t.Anchor = &it
		default:
			t.After = append(t.After, it)
		}
	}
	return t, m.err
}

func (m *memory) observations(q api.RowsQuery) (out api.Rows, err error) {
	note(m, &m.reads, q)
	for _, id := range q.IDs {
		n := len(out.Rows)
		for _, r := range m.rows {
			if strings.HasPrefix(r.ID.String(), id) || r.Handle().String() == id {
				out.Rows = append(out.Rows, r)
			}
		}
		if len(out.Rows) == n {
			out.Missing = append(out.Missing, id)
		}
	}
	return out, m.err
}

func (m *memory) inputsOf(q api.InputsQuery) (out api.Inputs, err error) {
	out.ID, out.Total = idOf(q.ID), len(m.inputs)
	for _, in := range m.inputs {
		if in.Position > q.After && len(out.Inputs) < q.Limit {
			out.Inputs = append(out.Inputs, in)
		}
	}
	if n := len(out.Inputs); n > 0 && out.Inputs[n-1].Position < events.Position(len(m.inputs)) {
		out.Next = out.Inputs[n-1].Position
	}
	return out, m.err
}

func (m *memory) why(q api.WhyQuery) (w api.Why, err error) {
	note(m, &m.whys, q)
	if len(m.rows) > 0 {
		w.Row = m.rows[0]
		w.Prompts, w.Older = m.rows[1:], m.rows[1:]
	}
	turn := api.WhyTurn{Turn: api.Turn{Provider: "claude-cli", Model: "haiku", EndedAt: now}, More: 3}
	for _, in := range m.inputs {
		turn.Inputs = append(turn.Inputs, api.WhyInput{Position: in.Position, At: now, Tool: in.Tool, Failed: in.Failed, Input: in.Input, Output: in.Output, Outcome: "observed"})
	}
	w.Turns = []api.WhyTurn{turn}
	return w, m.err
}

func (m *memory) context(q api.ContextQuery) (answer api.ContextAnswer, err error) {
	note(m, &m.contexts, q)
	answer.Text = "<cmemd-context>\nof " + q.Cwd + q.Project + "\n</cmemd-context>"
	return answer, m.err
}

func (m *memory) session(id string) (api.SessionDetail, error) {
	if id != "s1" && m.err == nil {
		return api.SessionDetail{}, &api.Problem{Type: api.ProblemNotFound, Status: http.StatusNotFound}
	}
	return api.SessionDetail{Session: api.Session{Agent: "claude-code", Project: "shop", ToolUses: 4, OpenedAt: now}, Rows: m.rows}, m.err
}

func (m *memory) status() (st api.Status, err error) {
	st.Version, st.Ready, st.Position = "1.2.3", true, 42
	st.Inputs = api.Balance{Balance: session.Balance{Captured: 10, Observed: 6, Skipped: 1, Dropped: 1, Pending: 1, Forgotten: 1}}
	return st, m.err
}

func (m *memory) save(s api.Memory) (api.Saved, error) {
	note(m, &m.saves, s)
	saved := api.Saved{ID: idOf(s.Text), Position: 7}
	if s.Supersedes != "" {
		saved.Superseded = []events.ID{idOf("old")}
	}
	return saved, m.err
}

func (m *memory) plan(q api.ForgetRequest) (p api.ForgetPlan, err error) {
	q.DryRun = false // the route says it
	note(m, &m.plans, q)
	p.Records, p.Position = m.records, 100
	p.Kinds = map[events.Kind]int{events.KindToolUsed: m.records}
	for _, r := range m.rows {
		p.Sample = append(p.Sample, api.ForgetSample{At: r.At, Kind: events.KindToolUsed, Text: r.Title})
	}
	return p, m.err
}

func (m *memory) forget(ctx context.Context, q api.ForgetRequest, progress func(api.Progress)) (api.Forgotten, error) {
	note(m, &m.forgets, q)
	if progress != nil {
		progress(api.Progress{Done: 1, Total: 2})
	}
	switch {
	case m.records == 0:
		return api.Forgotten{}, m.err
	case api.HasAgreed(ctx):
		return api.Forgotten{Position: 101, Records: m.records, Sessions: 1}, m.err
	}
	return api.Forgotten{Position: 101, Request: &api.OpenRequest{Name: "f101", Requested: erasure.Requested{
		Expires: now.AddDate(0, 0, 30), Rows: []events.ID{idOf("one")}, Records: m.records,
	}}}, m.err
}

// handleAt is the handle of the row that someRows has at a place.
func handleAt(i int) string { return api.Handle{At: events.Position(i + 1)}.String() }

// someRows are n observations of a project.
func someRows(n int, project string) (out []api.Row) {
	for i := range n {
		name := fmt.Sprintf("%s %d", project, i)
		out = append(out, api.Row{
			ID: idOf(name), Position: events.Position(i + 1), Kind: "observation", Type: "bugfix", Title: "The cart holds one lock, " + name, Project: project,
			ProjectRoot: "/src/" + project, At: now.Add(time.Duration(i-n) * time.Hour), Narrative: "It waited for the wrong one.",
			Facts: []string{"cart.go takes the lock once"}, FilesModified: []string{"cart.go"},
		})
	}
	return out
}

// client is one of a server over pipes in memory.
type client struct {
	*mcp.ClientSession
	t      *testing.T
	server *Server
}

// connect starts a server over m and a client of it, which change may alter.
func connect(t *testing.T, m *memory, change func(*Config, *mcp.ClientOptions)) *client {
	t.Helper()
	return connectAs(t, "", m, change)
}

// connectAs is connect with a version of the protocol; empty: the newest.
func connectAs(t *testing.T, version string, m *memory, change func(*Config, *mcp.ClientOptions)) *client {
	t.Helper()
	cfg := Config{Memory: m, Version: "1.2.3", Dir: "/src/shop", Now: func() time.Time { return now }}
	opts := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	if change != nil {
		change(&cfg, opts)
	}
	s := New(cfg)
	far, near := mcp.NewInMemoryTransports()
	if _, err := s.sdk.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts).Connect(t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close(); _ = s.Close() })
	return &client{session, t, s}
}

// args are the arguments of a tool.
type args map[string]any

// call calls a tool and returns what it says, and whether that is an error.
func (c *client) call(name string, a args) (says string, failed bool) {
	c.t.Helper()
	res, err := c.CallTool(c.t.Context(), &mcp.CallToolParams{Name: name, Arguments: a})
	if err != nil {
		c.t.Fatalf("%s: %v", name, err)
	}
	if len(res.Content) != 1 || res.StructuredContent != nil {
		c.t.Fatalf("%s: got %+v, want one text", name, res)
	}
	return res.Content[0].(*mcp.TextContent).Text, res.IsError
}

// says is call for what must go well.
func (c *client) says(name string, a args) string {
	c.t.Helper()
	text, failed := c.call(name, a)
	if failed {
		c.t.Fatalf("%s %v: %s", name, a, text)
	}
	return text
}
