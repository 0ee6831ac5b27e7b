package server

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/peer"
)

// asks gives a world an eraser, and makes p the process that asks over its socket.
func asks(p peer.Peer, projects ...string) func(*testConfig) {
	return func(c *testConfig) {
		c.Peer, c.Projects = func(net.Conn) peer.Peer { return p }, projects
	}
}

// ownMCP is this program as it serves an agent's client.
func ownMCP() peer.Peer { return peer.Peer{Own: true, Arguments: []string{"mcp"}} }

// TestWriterOnRecord: who saves is found out by the daemon. The token is agents', whatever process sends it; a yes in a form counts
// only where this program itself reports it.
func TestWriterOnRecord(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		peer   peer.Peer
		tcp    bool
		agreed bool
		want   events.Writer
	}{
		"a person's command":              {peer.Peer{Person: true}, false, false, events.WriterPerson},
		"an agent's command":              {peer.Peer{}, false, false, events.WriterAgent},
		"a person's command by the token": {peer.Peer{Person: true}, true, false, events.WriterAgent},
		"a form, says an agent's command": {peer.Peer{Own: true, Arguments: []string{"forget"}}, false, true, events.WriterAgent},
		"a form, says another program":    {peer.Peer{Arguments: []string{"mcp"}}, false, true, events.WriterAgent},
		"a form, says who has the token":  {ownMCP(), true, true, events.WriterAgent},
		"a form, says cmemd mcp":          {ownMCP(), false, true, events.WriterPerson},
		"no form, says cmemd mcp":         {ownMCP(), false, false, events.WriterAgent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, asks(tc.peer))
			c, ctx := w.client, t.Context()
			if tc.tcp {
				c = client.DialTCP(w.tcp, testToken)
				defer c.Close()
			}
			if tc.agreed {
				ctx = api.Agreed(ctx)
			}
			saved, err := api.SaveRoute.Call(ctx, c, api.Memory{Text: "The user decided it.", Project: "shop"})
			if err != nil {
				t.Fatal(err)
			}
			w.settled(t)
			row, err := api.RowRoute.Call(t.Context(), w.client, api.RowQuery{ID: saved.ID.String()})
			if err != nil || row.Writer != tc.want {
				t.Errorf("got %q, %v, want %q", row.Writer, err, tc.want)
			}
		})
	}
}

// TestWhoAsksIsLookedAtWhereItDecides: once a connection, and never for a hook or a search, which are to be quick.
func TestWhoAsksIsLookedAtWhereItDecides(t *testing.T) {
	t.Parallel()
	var looks atomic.Int32
	w := newWorld(t, func(c *testConfig) {
		c.Peer = func(net.Conn) peer.Peer { looks.Add(1); return peer.Peer{Person: true} }
	})
	w.work(t, "one", "mend the cart", "/src/shop/cart.go")
	w.settled(t)
	if _, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "cart"}); err != nil {
		t.Fatal(err)
	}
	if n := looks.Load(); n != 0 {
		t.Errorf("looked %d times for hooks and a search", n)
	}
	one := client.DialSocket(w.socket)
	defer one.Close()
	for range 3 {
		if _, err := api.SaveRoute.Call(t.Context(), one, api.Memory{Text: "x", Project: "shop"}); err != nil {
			t.Fatal(err)
		}
	}
	if n := looks.Load(); n != 1 {
		t.Errorf("looked %d times at one connection, want once", n)
	}
}

// TestAFormOverHTTP: a face that lives in the daemon reports a yes itself, whatever the request that it answers came with.
func TestAFormOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t, asks(peer.Peer{}))
	w.saved(t, "the carousel is slow")
	ctx := withCaller(t.Context(), caller{scope: api.ScopeOwn})
	done, err := api.ForgetRoute.Call(ctx, w.server, api.ForgetRequest{Query: "carousel"}, nil)
	if err != nil || done.Request == nil {
		t.Fatalf("without a yes: %+v, %v, want a request", done, err)
	}
	if done, err = api.ForgetRoute.Call(api.Agreed(ctx), w.server, api.ForgetRequest{Query: "carousel"}, nil); err != nil || done.Records != 1 {
		t.Errorf("with a yes: %+v, %v, want it erased", done, err)
	}
	if _, err := api.ForgetRequestsRoute.Call(api.Agreed(t.Context()), w.server, api.NoQuery{}); problem(t, err).Type != api.ProblemForbidden {
		t.Errorf("a yes of nobody: %v", err)
	}
}

// TestAnAgentsForgetIsARequest: nothing is erased by it, on whichever way it comes; its rows are in no answer until a person decides.
func TestAnAgentsForgetIsARequest(t *testing.T) {
	t.Parallel()
	person := false
	w := newWorld(t, func(c *testConfig) {
		c.Peer = func(net.Conn) peer.Peer { return peer.Peer{Person: person} }
	})
	ids, _ := w.saved(t, "the carousel is slow", "the wheel is round")
	ask := func(c *client.Client, query string) api.OpenRequest {
		t.Helper()
		done, err := api.ForgetRoute.Call(t.Context(), c, api.ForgetRequest{Query: query}, nil)
		if err != nil || done.Records != 0 || done.Request == nil || done.Request.Records != 1 || done.Request.Writer != events.WriterAgent {
			t.Fatalf("got %+v, %v, want a request", done, err)
		}
		return *done.Request
	}
	found := func(text string) bool {
		t.Helper()
		w.settled(t)
		got, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		told, err := api.ContextRoute.Call(t.Context(), w.client, api.ContextQuery{Project: "shop"})
		if err != nil || strings.Contains(told.Text, text) != (len(got.Results) == 1) {
			t.Errorf("search finds %d, the context says it: %t, %v", len(got.Results), strings.Contains(told.Text, text), err)
		}
		return len(got.Results) == 1
	}
	overTCP := client.DialTCP(w.tcp, testToken)
	defer overTCP.Close()
	slow, wheel := ask(w.client, "carousel"), ask(overTCP, "wheel")
	if found("carousel") || found("wheel") {
		t.Error("what an agent asked to forget is found")
	}
	if n := w.count(t, events.KindMemoryForgotten); n != 0 {
		t.Fatalf("an agent erased %d times", n)
	}
	for what, err := range map[string]error{
		"approve": errOf(api.ApproveForgetRoute.Call(t.Context(), w.client, api.ApproveRequest{ID: slow.Name}, nil)),
		"refuse":  errOf(api.RefuseForgetRoute.Call(t.Context(), w.client, api.IDQuery{ID: slow.Name})),
		"erase":   errOf(api.ForgetRoute.Call(t.Context(), w.client, api.ForgetRequest{Request: slow.Name}, nil)),
	} {
		if p := problem(t, err); what != "erase" && (p.Type != api.ProblemForbidden || !strings.Contains(p.Detail, "run it in your own terminal")) {
			t.Errorf("an agent may %s: %+v", what, p)
		}
	}
	open, err := api.ForgetRequestsRoute.Call(t.Context(), w.client, api.NoQuery{})
	if err != nil || len(open.Requests) != 2 || open.Requests[0].Name != slow.Name || len(open.Requests[0].Sample) != 1 {
		t.Fatalf("open: %+v, %v", open, err)
	}
	st, err := api.StatusRoute.Call(t.Context(), w.client, api.NoQuery{})
	if err != nil || st.Erasure.Requests != 2 {
		t.Errorf("status counts %+v, %v, want 2 requests", st.Erasure, err)
	}

	person = true
	theirs := client.DialSocket(w.socket) // who asks is looked at once a connection
	defer theirs.Close()
	refused, err := api.RefuseForgetRoute.Call(t.Context(), theirs, api.IDQuery{ID: wheel.ID.String()})
	if err != nil || !slices.Equal(refused.Rows, ids[1:]) || !found("wheel") {
		t.Errorf("refused: %+v, %v, found: %t", refused, err, found("wheel"))
	}
	plan, err := api.ForgetPlanRoute.Call(t.Context(), theirs, api.ForgetRequest{Request: slow.Name}.Plan(), nil)
	if err != nil || plan.Records != 1 {
		t.Errorf("plan of the request: %+v, %v", plan, err)
	}
	done, err := api.ApproveForgetRoute.Call(t.Context(), theirs, api.ApproveRequest{ID: slow.Name}, nil)
	if err != nil || done.Records != 1 || found("carousel") || w.count(t, events.KindMemoryForgotten) != 1 {
		t.Errorf("approved: %+v, %v", done, err)
	}
	for _, name := range []string{slow.Name, wheel.Name, "f9999", ""} {
		_, err := api.RefuseForgetRoute.Call(t.Context(), theirs, api.IDQuery{ID: name})
		if err == nil || name != "" && problem(t, err).Status != http.StatusNotFound {
			t.Errorf("answered twice %q: %v", name, err)
		}
	}
}

// TestAllRequestsAtOnce: what agents asked to forget is planned, refused and erased as one. What came since the plan is not erased, also
// where as many records were refused meanwhile.
func TestAllRequestsAtOnce(t *testing.T) {
	t.Parallel()
	person := false
	w := newWorld(t, func(c *testConfig) {
		c.Peer = func(net.Conn) peer.Peer { return peer.Peer{Person: person} }
	})
	ids, _ := w.saved(t, "the carousel is slow", "the wheel is round", "the brake squeaks")
	ask := func(queries ...string) (last api.OpenRequest) {
		t.Helper()
		agent := client.DialSocket(w.socket) // who asks is looked at once a connection
		defer agent.Close()
		person = false
		defer func() { person = true }()
		for _, query := range queries {
			done, err := api.ForgetRoute.Call(t.Context(), agent, api.ForgetRequest{Query: query}, nil)
			if err != nil || done.Request == nil {
				t.Fatalf("got %+v, %v, want a request", done, err)
			}
			last = *done.Request
		}
		return last
	}
	ask("carousel", "wheel")
	theirs := client.DialSocket(w.socket)
	defer theirs.Close()
	refused, err := api.RefuseForgetRoute.Call(t.Context(), theirs, api.IDQuery{ID: api.AllRequests})
	if err != nil || !slices.Equal(refused.Rows, ids[:2]) || refused.ID != (events.ID{}) {
		t.Errorf("refused: %+v, %v, want both rows", refused, err)
	}
	if _, err := api.RefuseForgetRoute.Call(t.Context(), theirs, api.IDQuery{ID: api.AllRequests}); problem(t, err).Status != http.StatusNotFound {
		t.Errorf("none is open: %v", err)
	}
	planned := func() api.ForgetPlan {
		t.Helper()
		plan, err := api.ForgetPlanRoute.Call(t.Context(), theirs, api.ForgetRequest{Request: api.AllRequests}.Plan(), nil)
		if err != nil || plan.Records != 2 {
			t.Fatalf("plan: %+v, %v", plan, err)
		}
		return plan
	}
	approve := func(plan api.ForgetPlan, records int) (api.Forgotten, error) {
		return api.ApproveForgetRoute.Call(t.Context(), theirs, api.ApproveRequest{ID: api.AllRequests, Through: plan.Position, Records: &records}, nil)
	}
	wheel := ask("carousel", "wheel")
	plan := planned()
	if _, err := approve(plan, 1); problem(t, err).Status != http.StatusConflict {
		t.Errorf("another number: %v", err)
	}
	if _, err := api.RefuseForgetRoute.Call(t.Context(), theirs, api.IDQuery{ID: wheel.Name}); err != nil {
		t.Fatal(err)
	}
	ask("brake")
	if done, err := approve(plan, 2); err == nil || problem(t, err).Status != http.StatusConflict || w.count(t, events.KindMemoryForgotten) != 0 {
		t.Errorf("one of two refused, and another asked since: %+v, %v", done, err)
	}
	done, err := approve(planned(), 2)
	open, errOpen := api.ForgetRequestsRoute.Call(t.Context(), theirs, api.NoQuery{})
	if err != nil || errOpen != nil || done.Records != 2 || len(open.Requests) != 0 {
		t.Errorf("approved: %+v, %v; open: %+v, %v", done, err, open, errOpen)
	}
}

func errOf[A any](_ A, err error) error { return err }

// newFolder makes a folder of that name.
func newFolder(t *testing.T, name string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.Mkdir(filepath.Join(top, name), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(top, name)
}

// TestAFaceThatKeepsToAProject: by name, by id, through a row's neighbours, its sources and its corrections, nothing of another project
// is read or changed, but for what the person lets agents reach.
func TestAFaceThatKeepsToAProject(t *testing.T) {
	t.Parallel()
	for name, projects := range map[string][]string{"alone": nil, "with another": {"bank"}, "with all": {"*"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, asks(ownMCP(), projects...))
			shop, bank := newFolder(t, "shop"), "bank"
			ids := map[string]string{}
			for _, project := range []string{shop, bank} {
				saved, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Project: project, Text: "tuesdays at " + filepath.Base(project)})
				if err != nil {
					t.Fatal(err)
				}
				ids[project] = saved.ID.String()
			}
			w.settled(t)
			ctx := api.KeptTo(t.Context(), shop)
			here, err := api.SearchRoute.Call(ctx, w.client, api.SearchQuery{Text: "tuesdays"})
			if n := len(here.Results); err != nil || n != 1 && name != "with all" {
				t.Errorf("a search that names no project: %d rows, %v", n, err)
			}
			for _, project := range []string{shop, bank} {
				may := project == shop || len(projects) > 0
				for what, ask := range map[string]func(ctx context.Context) error{
					"search": func(ctx context.Context) error {
						return errOf(api.SearchRoute.Call(ctx, w.client, api.SearchQuery{Project: project}))
					},
					"context": func(ctx context.Context) error {
						return errOf(api.ContextRoute.Call(ctx, w.client, api.ContextQuery{Project: project}))
					},
					"get": func(ctx context.Context) error {
						return errOf(api.RowRoute.Call(ctx, w.client, api.RowQuery{ID: ids[project]}))
					},
					"inputs": func(ctx context.Context) error {
						return errOf(api.InputsRoute.Call(ctx, w.client, api.InputsQuery{ID: ids[project]}))
					},
					"why": func(ctx context.Context) error {
						return errOf(api.WhyRoute.Call(ctx, w.client, api.WhyQuery{ID: ids[project]}))
					},
					"timeline": func(ctx context.Context) error {
						return errOf(api.TimelineRoute.Call(ctx, w.client, api.TimelineQuery{Anchor: ids[project]}))
					},
					"save": func(ctx context.Context) error {
						return errOf(api.SaveRoute.Call(ctx, w.client, api.Memory{Project: project, Text: "x"}))
					},
					"correct": func(ctx context.Context) error {
						return errOf(api.SaveRoute.Call(ctx, w.client, api.Memory{Supersedes: ids[project], Text: "x"}))
					},
					"forget": func(ctx context.Context) error {
						return errOf(api.ForgetRoute.Call(ctx, w.client, api.ForgetRequest{IDs: []string{ids[project]}, Project: project}, nil))
					},
				} {
					if what == "correct" && may {
						continue // once is enough for what follows
					}
					err := ask(ctx)
					if may && err != nil || !may && (err == nil || problem(t, err).Title != "Of another project" || !strings.Contains(err.Error(), "mcp_projects")) {
						t.Errorf("%s in %s: %v, allowed: %t", what, project, err, may)
					}
				}
				rows, err := api.ObservationsRoute.Call(ctx, w.client, api.RowsQuery{IDs: []string{ids[project]}})
				if err != nil || len(rows.Missing) == 0 != may || !may && !strings.Contains(rows.WhyMissing[ids[project]], "mcp_projects") {
					t.Errorf("rows of %s: %+v, %v, allowed: %t", project, rows, err, may)
				}
			}
		})
	}
}

// TestAFaceOfNoProject: where it is not known in which project an agent works, it reaches what the person names, and nothing else.
func TestAFaceOfNoProject(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		projects []string
		named    string
		in       string // where it is saved; empty: it is refused
	}{
		{nil, "", ""}, {nil, "shop", ""},
		{[]string{"shop"}, "", "shop"}, {[]string{"shop"}, "shop", "shop"}, {[]string{"shop"}, "bank", ""},
		{[]string{"shop", "bank"}, "", ""}, {[]string{"shop", "bank"}, "bank", "bank"},
	} {
		w := newWorld(t, asks(ownMCP(), tc.projects...))
		saved, err := api.SaveRoute.Call(api.KeptTo(t.Context(), ""), w.client, api.Memory{Text: "x", Project: tc.named})
		if tc.in == "" {
			if err == nil || problem(t, err).Title != "Of another project" {
				t.Errorf("%v, %q: got %v, want it refused", tc.projects, tc.named, err)
			}
			continue
		}
		w.settled(t)
		row, rowErr := api.RowRoute.Call(t.Context(), w.client, api.RowQuery{ID: saved.ID.String()})
		if diff := cmp.Diff(tc.in, row.Project); err != nil || rowErr != nil || diff != "" {
			t.Errorf("%v, %q: %v, %v (-want +got):\n%s", tc.projects, tc.named, err, rowErr, diff)
		}
	}
}

// TestAnAgentsCorrectionStaysInItsProject: an agent's command corrects and takes back what is of the project in whose folder it was
// run; a person's corrects all.
func TestAnAgentsCorrectionStaysInItsProject(t *testing.T) {
	t.Parallel()
	shop := newFolder(t, "shop")
	for name, tc := range map[string]struct {
		peer peer.Peer
		may  bool
	}{
		"an agent in another folder":  {peer.Peer{Folder: t.TempDir()}, false},
		"an agent nobody knows where": {peer.Peer{}, false},
		"an agent in the folder":      {peer.Peer{Folder: shop}, true},
		"a person elsewhere":          {peer.Peer{Folder: t.TempDir(), Person: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, asks(tc.peer))
			saved, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Project: shop, Text: "Releases are cut on Tuesdays."})
			if err != nil {
				t.Fatal(err)
			}
			w.settled(t)
			id := saved.ID.String()
			_, corrected := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Supersedes: id, Text: "On Wednesdays."})
			w.settled(t)
			_, undone := api.UndoRoute.Call(t.Context(), w.client, api.IDQuery{ID: id})
			for what, err := range map[string]error{"correct": corrected, "undo": undone} {
				if (err == nil) != tc.may {
					t.Errorf("%s: %v, want it allowed: %t", what, err, tc.may)
				}
			}
		})
	}
}
