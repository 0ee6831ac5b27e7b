package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/internal/peer"
	"github.com/cmemd/cmemd/testkit/socket"
)

// contract is a route with queries that are asked over a socket and in this process.
type contract struct {
	api.Endpoint
	ask func(ctx context.Context, to api.Invoker) (heard []string)
}

// asked asks r for each query. What differs from one asking to the next is taken out of answers by same; nil: nothing does.
func asked[Q, A any](r api.Route[Q, A], same func(*A), queries ...Q) contract {
	return worked(api.Work[Q, A](r), same, queries...)
}

func worked[Q, A any](r api.Work[Q, A], same func(*A), queries ...Q) contract {
	return contract{api.Endpoint(r), func(ctx context.Context, to api.Invoker) (heard []string) {
		for _, q := range queries {
			a, err := r.Call(ctx, to, q, nil)
			if same != nil {
				same(&a)
			}
			heard = append(heard, said(a, err))
		}
		return heard
	}}
}

// asPerson is ctx of a request of a person's command.
func asPerson(ctx context.Context) context.Context {
	return withCaller(ctx, caller{scope: api.ScopeSocket, peer: func() peer.Peer { return peer.Peer{Person: true} }})
}

// said is an answer or an error as JSON; one that cannot be written is empty.
func said(answer any, err error) string {
	var p *api.Problem
	if errors.As(err, &p) {
		answer = p
	} else if err != nil {
		answer = err.Error()
	}
	b, _ := json.Marshal(answer)
	_ = json.Unmarshal(b, &answer) // into maps, whose order is always the same
	b, _ = json.Marshal(answer)
	return string(b)
}

// contracts is a world with something in it, and every route that is answered there with questions about it. They are asked in their order.
func contracts(t *testing.T) (*world, []contract) {
	t.Helper()
	now := time.Now()
	w := newWorld(t, func(c *testConfig) {
		c.Now = func() time.Time { return now }
	})
	w.work(t, "s1", "mend the cart", "/src/shop/cart.go")
	saved, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Project: "shop", Text: "deploys go out on Tuesdays"})
	if err != nil {
		t.Fatal(err)
	}
	w.settled(t)
	id, none, far := saved.ID.String(), newID().String(), events.Position(1<<40)
	long, most := strings.Repeat("x", api.MaxParam+1), 1001
	sooner := now.Add(-time.Hour)
	return w, []contract{
		asked(api.ReadyRoute, nil, api.ReadyQuery{}),
		asked(api.SearchRoute, nil, api.SearchQuery{Text: "tuesday"}, api.SearchQuery{Kind: "memory, observation", Facets: true, Explain: true, Sort: "oldest"},
			api.SearchQuery{Kind: "x", Sort: "y", Limit: 101, Offset: 10_001, Recency: &most, Text: long}, api.SearchQuery{After: far},
			api.SearchQuery{AsOf: api.Moment{Position: 1}}, api.SearchQuery{AsOf: api.Moment{Time: sooner}, Session: "nobody's", Limit: -1}, api.SearchQuery{Text: "\xff"}),
		asked(api.ContextRoute, nil, api.ContextQuery{Cwd: "/src/shop"}, api.ContextQuery{}, api.ContextQuery{Cwd: "x", Prompt: "y", File: "z", Tokens: 10_001},
			api.ContextQuery{Session: "s1", Source: "compact", Explain: true}, api.ContextQuery{Source: "x", Project: "shop"}),
		asked(api.ListRoute, nil, api.ListQuery{}, api.ListQuery{Project: "shop", Counts: true, State: "outside", Sort: "oldest"}, api.ListQuery{Limit: 201, State: "x"}),
		asked(api.TimelineRoute, nil, api.TimelineQuery{Anchor: id}, api.TimelineQuery{}, api.TimelineQuery{Query: "cart", Before: 201}, api.TimelineQuery{Anchor: none}),
		asked(api.WhyRoute, nil, api.WhyQuery{ID: id}, api.WhyQuery{ID: none}, api.WhyQuery{ID: id, AsOf: api.Moment{Position: 1}}, api.WhyQuery{ID: id, AsOf: api.Moment{Time: sooner}}),
		asked(api.RowRoute, nil, api.RowQuery{ID: id, After: 1}, api.RowQuery{ID: none}, api.RowQuery{ID: "x"}),
		asked(api.ObservationsRoute, nil, api.RowsQuery{IDs: []string{id, none}}, api.RowsQuery{}, api.RowsQuery{IDs: []string{"x"}}),
		asked(api.RowsRoute, nil, api.RowsRequest{IDs: []string{id, none}}, api.RowsRequest{}, api.RowsRequest{IDs: make([]string, 201)}),
		asked(api.RowsAliasRoute, nil, api.RowsRequest{IDs: []string{id}}),
		asked(api.InputsRoute, nil, api.InputsQuery{ID: id}, api.InputsQuery{ID: id, Limit: 501}, api.InputsQuery{ID: none}),
		asked(api.ConfirmRoute, nil, api.ConfirmRequest{ID: none}, api.ConfirmRequest{ID: "x", Withdraw: true}, api.ConfirmRequest{ID: id}),
		asked(api.UndoRoute, nil, api.IDQuery{ID: none}, api.IDQuery{ID: "x"}),
		asked(api.SessionsRoute, nil, api.SessionsQuery{}, api.SessionsQuery{Project: "shop", OpenOnly: true, Since: sooner}, api.SessionsQuery{Limit: 1001}),
		asked(api.SessionRoute, nil, api.IDQuery{ID: "s1"}, api.IDQuery{ID: "nobody's"}),
		asked(api.ReleaseRoute, nil, api.IDQuery{ID: "s1"}, api.IDQuery{ID: "nobody's"}),
		asked(api.ResumeRoute, nil, api.NameQuery{Name: "extractive"}, api.NameQuery{Name: "nobody"}),
		asked(api.SettleRoute, nil, api.SettleRequest{Sessions: []api.SilentSession{{Session: events.SessionIDOf("claude-code", "nobody's")}}},
			api.SettleRequest{}, api.SettleRequest{Sessions: make([]api.SilentSession, api.MaxSettled+1)}),
		asked(api.OutcomesRoute, nil, api.OutcomesQuery{}, api.OutcomesQuery{Outcome: "x", Kind: "y", Limit: 10_001}, api.OutcomesQuery{Turn: "1", Outcome: "observed"}),
		asked(api.StatusRoute, nil, api.NoQuery{}),
		asked(api.UsageRoute, nil, api.UsageQuery{}, api.UsageQuery{By: "model", UTC: true}, api.UsageQuery{By: "x"}, api.UsageQuery{Session: "nobody's"}),
		asked(api.LossesRoute, nil, api.LossesQuery{}, api.LossesQuery{Since: sooner, Until: now}),
		asked(api.GainRoute, nil, api.GainQuery{}, api.GainQuery{Project: "shop", Since: sooner, Limit: 1}, api.GainQuery{Limit: 1001}),
		asked(api.LogStatsRoute, nil, api.NoQuery{}),
		asked(api.OpenAPIRoute, nil, api.NoQuery{}),
		asked(api.RecordsRoute, nil, api.RecordsQuery{Limit: 2, Payload: true}, api.RecordsQuery{From: far}, api.RecordsQuery{Limit: 1001, Stream: "daemon"},
			api.RecordsQuery{Before: 4, Limit: 2}, api.RecordsQuery{At: sooner, Kinds: "tool_used"}, api.RecordsQuery{At: now.Add(time.Hour)}, api.RecordsQuery{From: 1, Before: 2}),
		asked(api.ProjectionsRoute, func(all *[]api.View) {
			for i := range *all {
				(*all)[i].Bytes = 0 // the index merges its files whenever it likes
			}
		}, api.NoQuery{}),
		asked(api.ProjectionRoute, func(i *api.Inspection) { i.Bytes = 0 }, api.InspectQuery{Name: "sessions"}, api.InspectQuery{Name: "index"}, api.InspectQuery{Name: "x"}, api.InspectQuery{Name: "turns", Limit: 1001}),
		asked(api.StopRoute, nil, api.StopQuery{}, api.StopQuery{Cause: long}),
		asked(api.RotateRoute, nil, api.NoQuery{}),
		asked(api.LinkRoute, func(l *api.Link) { l.URL, l.Expires = "", time.Time{} }, api.LinkRequest{}),
		asked(api.EnrolRoute, nil, api.EnrolRequest{Code: "guess"}),
		asked(api.NonceRoute, nil, api.NonceRequest{Viewer: "nobody"}),
		asked(api.SignInRoute, nil, api.SignInRequest{Viewer: "nobody"}),
		asked(api.ViewersRoute, nil, api.NoQuery{}),
		asked(api.SignOutRoute, nil, api.IDQuery{ID: "nobody"}),
		asked(api.SignOutAllRoute, nil, api.NoQuery{}),
		worked(api.VerifyRoute, nil, api.NoQuery{}),
		worked(api.CompareRoute, nil, api.NoQuery{}),
		asked(api.ProjectsRoute, nil, api.NoQuery{}),
		asked(api.JoinRoute, nil, api.JoinRequest{Folder: "relative"}, api.JoinRequest{Folder: "/nowhere/at/all"}, api.JoinRequest{Folder: "/", Project: "nobody's"}),
		asked(api.PartRoute, nil, api.PartRequest{}, api.PartRequest{Folder: "/"}),
		asked(api.GiveRoute, func(d *api.ProjectDecided) { *d = api.ProjectDecided{} }, api.GiveRequest{}, api.GiveRequest{Name: "shop"}, api.GiveRequest{Name: "nobody's", Folder: "/"}),
		asked(api.SaveRoute, func(s *api.Saved) { *s = api.Saved{} }, api.Memory{Text: "another"}, api.Memory{}, api.Memory{Text: "x", Supersedes: none}),
		worked(api.RebuildRoute, nil, api.RebuildRequest{Names: []string{"sessions"}}, api.RebuildRequest{Names: []string{"x"}}),
		worked(api.ReobserveRoute, nil, api.ReobserveRequest{Dropped: true, Wait: true}, api.ReobserveRequest{Session: "s1", DryRun: true}, api.ReobserveRequest{}),
		worked(api.RecheckRoute, nil, api.RecheckRequest{}),
		worked(api.ReplayRoute, nil, api.ReplayRequest{}, api.ReplayRequest{Sessions: []string{"nobody's"}}, api.ReplayRequest{Policies: []policy.Name{"x"}}),
		worked(api.ForgetPlanRoute, nil, api.ForgetRequest{Query: "tuesday"}.Plan(), api.ForgetRequest{}.Plan(), api.ForgetRequest{IDs: []string{none}}.Plan()),
		asked(api.ForgetRequestsRoute, nil, api.NoQuery{}),
		worked(api.ApproveForgetRoute, nil, api.ApproveRequest{ID: "f1"}, api.ApproveRequest{ID: none}),
		asked(api.RefuseForgetRoute, nil, api.IDQuery{ID: "f1"}, api.IDQuery{ID: none}),
		asked(api.ClusterRoute, nil, api.NoQuery{}),
		worked(api.ClusterJoinRoute, nil, api.ClusterJoin{Where: "/nowhere"}, api.ClusterJoin{}),
		worked(api.ClusterInviteRoute, nil, api.ClusterInvite{}),
		worked(api.ClusterRevokeRoute, nil, api.ClusterRevoke{Name: "nobody's"}),
		worked(api.ClusterLeaveRoute, nil, api.ClusterLeave{}),
		worked(api.ClusterFlushRoute, nil, api.NoQuery{}),
		worked(api.ClusterVerifyRoute, nil, api.NoQuery{}),
		worked(api.ForgetRoute, nil, api.ForgetRequest{Query: "what nobody said"}, api.ForgetRequest{}),
	}
}

// TestEveryRouteBothWays: a route answers alike over a socket and in this process, and refuses alike.
func TestEveryRouteBothWays(t *testing.T) {
	t.Parallel()
	w, contracts := contracts(t)
	covered := map[string]bool{}
	for _, c := range contracts {
		covered[c.Pattern()] = true
		w.settled(t)
		if diff := cmp.Diff(c.ask(t.Context(), w.client), c.ask(asPerson(t.Context()), w.server)); diff != "" {
			t.Errorf("%s (-socket +process):\n%s", c.Pattern(), diff)
		}
	}
	for _, e := range w.server.endpoints {
		if e.invoke != nil && !covered[e.Pattern()] {
			t.Errorf("%s is not asked", e.Pattern())
		}
	}
}

// TestInvokeIsOfTheServersLife: calls in this process are bounded as those over HTTP, Run waits for them, and ends work.
func TestInvokeIsOfTheServersLife(t *testing.T) {
	t.Parallel()
	var began sync.WaitGroup
	began.Add(2)
	var ended atomic.Bool
	w := newWorld(t, func(c *testConfig) {
		c.MaxRequests, c.MaxStreams = 1, 1
		c.swap = func(s *Server) {
			s.endpoints[api.Endpoint(api.StatusRoute).Pattern()] = bind(&s.dispatcher, api.StatusRoute, func(context.Context, api.NoQuery) (api.Status, error) {
				began.Done()
				<-s.life.ending
				time.Sleep(50 * time.Millisecond)
				ended.Store(true)
				return api.Status{}, nil
			})
			s.endpoints[api.Endpoint(api.VerifyRoute).Pattern()] = bindWork(&s.dispatcher, api.VerifyRoute, func(context.Context, api.NoQuery) (task[api.Verified], error) {
				return func(ctx context.Context, progress func(done, total uint64)) (api.Verified, error) {
					for i := range uint64(1000) {
						progress(i, 1000)
					}
					began.Done()
					<-ctx.Done()
					return api.Verified{}, ctx.Err()
				}, nil
			})
		}
	})
	ctx := withCaller(t.Context(), caller{scope: api.ScopeView})
	heard := make(chan error, 2)
	told := 0
	go func() { _, err := api.StatusRoute.Call(ctx, w.server, api.NoQuery{}); heard <- err }()
	go func() {
		_, err := api.VerifyRoute.Call(ctx, w.server, api.NoQuery{}, func(api.Progress) { told++ })
		heard <- err
	}()
	began.Wait()
	if _, err := api.StatusRoute.Call(ctx, w.server, api.NoQuery{}); problem(t, err).Type != api.ProblemBusy {
		t.Errorf("one request too many: %v", err)
	}
	if _, err := api.VerifyRoute.Call(ctx, w.server, api.NoQuery{}, nil); problem(t, err).Type != api.ProblemBusy {
		t.Errorf("one stream too many: %v", err)
	}
	w.end()
	if !ended.Load() {
		t.Error("the server ended before a call did")
	}
	if one, other := <-heard, <-heard; (one == nil) == (other == nil) {
		t.Errorf("got %v and %v, want the work alone to be cancelled", one, other)
	}
	if told > 2 {
		t.Errorf("progress came %d times at once", told)
	}
}

// TestUnknownParameters are refused by routes that read parameters, before any body is read, and passed over by the others.
func TestUnknownParameters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *testConfig) { c.NewToken = func() (string, error) { return "another", nil } })
	w.work(t, "s1", "mend the cart", "/src/shop/cart.go")
	body := map[string]any{}
	for path, in := range map[string]any{
		"/v1/memories": body, "/v1/memories/x/undo": nil, "/v1/stop": nil, "/v1/ingest/claude-code": nil, "/v1/import/claude-mem": nil,
	} {
		p := problem(t, call(t.Context(), w.client, "POST", path, url.Values{"nosuch": {"1"}}, in, nil))
		if p.Status != http.StatusBadRequest || len(p.Errors) != 1 || p.Errors[0].Pointer != "nosuch" {
			t.Errorf("%s: got %+v, want the parameter refused alone", path, p)
		}
	}
	rows := map[string]any{"ids": []string{newID().String()}}
	for path, in := range map[string]any{
		"/v1/rows": rows, "/v1/observations": rows, "/v1/forget": body, "/v1/reobserve": body, "/v1/recheck": body,
		"/v1/projections/rebuild": body, "/v1/sessions/s1/release": nil, "/v1/token/rotate": nil,
	} {
		bare := fmt.Sprint(call(t.Context(), w.client, "POST", path, nil, in, nil))
		if got := fmt.Sprint(call(t.Context(), w.client, "POST", path, url.Values{"nosuch": {"1"}}, in, nil)); got != bare {
			t.Errorf("%s: got %s, want %s as without it", path, got, bare)
		}
	}
}

func TestInvokeFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ctx, cancel := context.WithCancel(withCaller(t.Context(), caller{scope: api.ScopeView}))
	cancel()
	if _, err := api.SearchRoute.Call(ctx, w.server, api.SearchQuery{Text: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: got %v, want %v", err, context.Canceled)
	}
	if err := w.server.Invoke(t.Context(), api.Endpoint(api.BackupRoute), api.NoQuery{}, nil, nil); problem(t, err).Status != http.StatusNotFound {
		t.Errorf("a stream: got %v, want 404", err)
	}
	if _, err := api.StatusRoute.Call(t.Context(), w.server, api.NoQuery{}); problem(t, err).Type != api.ProblemForbidden {
		t.Errorf("without a request: got %v, want %s", err, api.ProblemForbidden)
	}
	if _, err := api.StatusRoute.Call(withCaller(t.Context(), caller{scope: api.ScopeOwn}), w.server, api.NoQuery{}); err != nil {
		t.Errorf("within the scope: %v", err)
	}
	for name, scope := range map[string]api.Scope{"a page that may read": api.ScopeView, "one that has the token": api.ScopeOwn} {
		_, err := api.RotateRoute.Call(withCaller(t.Context(), caller{scope: scope}), w.server, api.NoQuery{})
		if problem(t, err).Type != api.ProblemForbidden {
			t.Errorf("%s: got %v, want %s", name, err, api.ProblemForbidden)
		}
	}
}

func TestDialStarting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var starts atomic.Int32
	start := func(err error) func(context.Context) error {
		return func(context.Context) error { starts.Add(1); return err }
	}
	none := filepath.Join(socket.Dir(t), "none")
	t.Run("nobody can start one", func(t *testing.T) {
		c := client.DialStarting(none, start(errors.New("the disk is full")))
		defer c.Close()
		if _, err := api.StatusRoute.Call(t.Context(), c, api.NoQuery{}); !errors.Is(err, api.ErrNotRunning) || !strings.HasSuffix(err.Error(), ": the disk is full") {
			t.Errorf("got %v, want %v and why", err, api.ErrNotRunning)
		}
	})
	t.Run("it is started", func(t *testing.T) {
		home := socket.Dir(t)
		c := client.DialStarting(home, func(ctx context.Context) error {
			starts.Add(1)
			l, err := net.Listen("unix", filepath.Join(makeRun(t, home), "cmemd.sock"))
			if err == nil {
				srv := &http.Server{Handler: w.server.Local()}
				go func() { _ = srv.Serve(l) }()
				t.Cleanup(func() { _ = srv.Close() })
			}
			return err
		})
		defer c.Close()
		for range 2 {
			if st, err := api.StatusRoute.Call(t.Context(), c, api.NoQuery{}); err != nil || st.PID != 7 {
				t.Errorf("got %d, %v", st.PID, err)
			}
		}
	})
	if n := starts.Load(); n != 2 {
		t.Errorf("start was called %d times, want once each", n)
	}
}

// TestACallerOfOneProject is answered about that alone, whether it names it or not.
func TestACallerOfOneProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, project := range []string{"shop", "bank"} {
		if _, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Project: project, Text: "tuesdays at the " + project}); err != nil {
			t.Fatal(err)
		}
	}
	w.settled(t)
	ctx := withCaller(t.Context(), caller{scope: api.ScopeOwn, kept: &kept{own: "shop"}})
	for _, named := range []string{"", "shop"} {
		found, err := api.SearchRoute.Call(ctx, w.server, api.SearchQuery{Text: "tuesdays", Project: named})
		if err != nil || len(found.Results) != 1 || found.Results[0].Project != "shop" {
			t.Errorf("named %q: got %+v, %v, want the shop's row", named, found.Results, err)
		}
	}
	_, another := api.SearchRoute.Call(ctx, w.server, api.SearchQuery{Project: "bank"})
	_, saved := api.SaveRoute.Call(ctx, w.server, api.Memory{Project: "bank", Text: "x"})
	_, all := api.RecheckRoute.Call(ctx, w.server, api.RecheckRequest{}, nil)
	for what, err := range map[string]error{"another project": another, "saving to it": saved, "what is of none": all} {
		if p := problem(t, err); p.Status != http.StatusForbidden {
			t.Errorf("%s: got %+v, want it refused", what, p)
		}
	}
	if saved, err := api.SaveRoute.Call(ctx, w.server, api.Memory{Text: "mine"}); err != nil || saved.Position == 0 {
		t.Errorf("saving to its own: %v", err)
	}
}

// TestKeepTo: a caller's project is compared as queries mean it, by name, by any folder, and by the root of what is saved.
func TestKeepTo(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	shop, other := filepath.Join(top, "shop"), filepath.Join(top, "elsewhere", "shop")
	link := filepath.Join(top, "link")
	for _, dir := range []string{shop, other} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(shop, link); err != nil {
		t.Fatal(err)
	}
	projectOf := func(named string) capture.Project {
		if !filepath.IsAbs(named) {
			return capture.Project{Name: named}
		}
		p := evidence.ProjectOf(named)
		return capture.Project{Name: p.Name, Root: p.Root, Key: p.Key}
	}
	root := projectOf(shop).Root
	for _, c := range []struct {
		own         string
		query, want any // nil: it is refused
	}{
		{shop, &api.SearchQuery{}, &api.SearchQuery{Project: shop}},
		{shop, &api.SearchQuery{Project: "shop"}, &api.SearchQuery{Project: shop}},
		{shop, &api.SearchQuery{Project: link}, &api.SearchQuery{Project: link}},
		{shop, &api.SearchQuery{Project: other}, nil},
		{shop, &api.SearchQuery{Project: "bank"}, nil},
		{"shop", &api.SearchQuery{Project: shop}, &api.SearchQuery{Project: shop}},
		{shop, &api.Memory{}, &api.Memory{Project: "shop", ProjectRoot: root}},
		{shop, &api.Memory{Project: "shop", ProjectRoot: link}, &api.Memory{Project: "shop", ProjectRoot: root}},
		{shop, &api.Memory{Project: "shop", ProjectRoot: other}, nil},
		{shop, &api.Memory{ProjectRoot: other}, nil},
		{shop, &api.Memory{Project: "bank", ProjectRoot: shop}, nil},
		{"shop", &api.Memory{Project: "shop", ProjectRoot: top}, nil},
		{"shop", &api.Memory{}, &api.Memory{Project: "shop"}},
	} {
		asked := fmt.Sprintf("%s: %+v", c.own, c.query)
		err := caller{kept: &kept{own: c.own}}.restrictToProject(c.query, projectOf)
		switch {
		case c.want == nil && (err == nil || problem(t, err).Status != http.StatusForbidden):
			t.Errorf("%s: got %+v, %v, want it refused", asked, c.query, err)
		case c.want != nil && (err != nil || !cmp.Equal(c.want, c.query)):
			t.Errorf("%s: got %+v, %v, want %+v", asked, c.query, err, c.want)
		}
	}
}
