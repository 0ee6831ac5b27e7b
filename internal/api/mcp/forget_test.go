package mcp

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cmemd/cmemd/internal/api"
)

// answering is a client that shows forms, and what its user does with them.
func answering(answer func(*mcp.ElicitParams) (*mcp.ElicitResult, error)) func(*Config, *mcp.ClientOptions) {
	return func(_ *Config, o *mcp.ClientOptions) {
		o.Capabilities = nil
		o.ElicitationHandler = func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return answer(req.Params) }
	}
}

// versions of the protocol: with a handshake and questions of the server's own, and without either.
func versions() []string { return []string{"2025-06-18", "2025-11-25", "2026-07-28"} }

func TestForgetAsksTheUser(t *testing.T) {
	t.Parallel()
	yes := map[string]any{"erase": true}
	for name, c := range map[string]struct {
		res    *mcp.ElicitResult
		want   string
		erased int
	}{
		"agreed":     {&mcp.ElicitResult{Action: "accept", Content: yes}, "Erased for good: 3 records.", 1},
		"not ticked": {&mcp.ElicitResult{Action: "accept", Content: map[string]any{"erase": false}}, "The user did not agree. Nothing was erased.", 0},
		"declined":   {&mcp.ElicitResult{Action: "decline"}, "The user did not agree. Nothing was erased.", 0},
		"dismissed":  {&mcp.ElicitResult{Action: "cancel", Content: yes}, "The user did not agree. Nothing was erased.", 0},
	} {
		for _, version := range versions() {
			t.Run(name+" "+version, func(t *testing.T) {
				t.Parallel()
				m := &memory{rows: someRows(2, "shop"), records: 3}
				var form *mcp.ElicitParams
				client := connectAs(t, version, m, answering(func(p *mcp.ElicitParams) (*mcp.ElicitResult, error) { form = p; return c.res, nil }))
				if got := client.says("forget", args{"query": "hunter2"}); !strings.HasPrefix(got, c.want) {
					t.Errorf("got %s, want %s", got, c.want)
				}
				checkAsked(t, m, form, c.erased)
			})
		}
	}
}

// checkAsked wants a form that says what would go, and that much erased.
func checkAsked(t *testing.T, m *memory, form *mcp.ElicitParams, erased int) {
	t.Helper()
	if form == nil || !strings.Contains(form.Message, "This would erase 3 records for good (3 tool_used).") || !strings.Contains(form.Message, m.rows[1].Title) {
		t.Errorf("the user was asked %+v", form)
	}
	if len(m.forgets) != erased {
		t.Errorf("erased %d times, want %d", len(m.forgets), erased)
	}
	for _, q := range m.forgets {
		if diff := cmp.Diff(api.ForgetRequest{Query: "hunter2", Through: 100}, q); diff != "" {
			t.Errorf("erased (-want +got):\n%s", diff)
		}
	}
}

func TestTheUserCannotBeAsked(t *testing.T) {
	t.Parallel()
	m := &memory{records: 3}
	c := connectAs(t, "2025-06-18", m, answering(func(*mcp.ElicitParams) (*mcp.ElicitResult, error) { return nil, errors.New("no terminal") }))
	got, failed := c.call("forget", args{"query": "hunter2"})
	if !failed || !strings.HasPrefix(got, "The user could not be asked, and nothing was erased: ") || !strings.Contains(got, "no terminal") || len(m.forgets) > 0 {
		t.Errorf("got %v %s, erased %v", failed, got, m.forgets)
	}
}

// TestForgetIsARequest: where the user cannot be asked in a form, nothing is erased, whatever the model says.
func TestForgetIsARequest(t *testing.T) {
	t.Parallel()
	m := &memory{rows: someRows(2, "shop"), records: 3}
	c := connect(t, m, nil)
	got := c.says("forget", args{"project": "/src/shop", "since": "7d"})
	for _, says := range []string{"Nothing is erased.", "1 row and 3 records", "until 2026-12-21", "`cmemd forget --approve f101`", "in their own terminal"} {
		if !strings.Contains(got, says) {
			t.Errorf("%q is not in %s", says, got)
		}
	}
	want := []api.ForgetRequest{{Project: "/src/shop", Since: now.AddDate(0, 0, -7)}}
	if diff := cmp.Diff(want, m.forgets); diff != "" || len(m.plans) > 0 {
		t.Errorf("asked, with plans %+v (-want +got):\n%s", m.plans, diff)
	}
	if _, failed := c.call("forget", args{"query": "hunter2", "confirm": "yes"}); !failed || len(m.forgets) > 1 {
		t.Error("a model may confirm by itself")
	}
	c.says("search", nil)
	if q := m.searches[0]; q.After != 101 {
		t.Errorf("the search need not know position 101: %+v", q)
	}
}

// TestTickets: what the user agrees to is what was shown, and nothing else.
func TestTickets(t *testing.T) {
	t.Parallel()
	s, in := New(Config{Memory: &memory{}}), forgetArgs{Session: "s1", IDs: []string{"aaaaaaaa"}}
	ticket := s.ticket(in, 3, 100)
	if at, ok := s.validTicket(in, ticket); !ok || at != 100 {
		t.Errorf("its own: %d, %t", at, ok)
	}
	for name, c := range map[string]struct {
		in     forgetArgs
		ticket string
	}{
		"other arguments":    {forgetArgs{Session: "s2", IDs: in.IDs}, ticket},
		"more is chosen":     {forgetArgs{Session: "s1"}, ticket},
		"another number":     {in, strings.Replace(ticket, "-3-", "-4-", 1)},
		"another position":   {in, strings.Replace(ticket, "-100-", "-900-", 1)},
		"made up":            {in, "yes"},
		"of another process": {in, New(Config{Memory: &memory{}}).ticket(in, 3, 100)},
	} {
		if _, ok := s.validTicket(c.in, c.ticket); ok {
			t.Errorf("%s: it counts", name)
		}
	}
}

// TestMoreWouldGoByNow: what the user agreed to is not erased where something else would go by then.
func TestMoreWouldGoByNow(t *testing.T) {
	t.Parallel()
	m := &memory{rows: someRows(1, "shop"), records: 3}
	c := connect(t, m, answering(func(*mcp.ElicitParams) (*mcp.ElicitResult, error) {
		m.records = 4
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"erase": true}}, nil
	}))
	got, failed := c.call("forget", args{"query": "hunter2"})
	if !failed || !strings.Contains(got, "something else would go by now: This would erase 4 records") || len(m.forgets) > 0 {
		t.Errorf("got %v %s, erased %+v", failed, got, m.forgets)
	}
}

func TestForgetNothing(t *testing.T) {
	t.Parallel()
	m := &memory{}
	c := connect(t, m, nil)
	for name, in := range map[string]args{
		"no condition": {}, "everything": {"project": "*"}, "a short text": {"query": "ab"}, "no time": {"since": "soon"}, "no id": {"ids": []string{"a, b"}},
	} {
		if got, failed := c.call("forget", in); !failed || !strings.Contains(got, "\nNext: ") {
			t.Errorf("%s: got %v %s, want a refusal with the next step", name, failed, got)
		}
	}
	if len(m.plans) > 0 {
		t.Errorf("planned %+v", m.plans)
	}
	if got := c.says("forget", args{"query": "nobody said this"}); got != "Nothing fits: there is nothing to forget." {
		t.Errorf("got %s", got)
	}
}

// Who wants to know hears how far it is.
func TestForgetTellsProgress(t *testing.T) {
	t.Parallel()
	told := make(chan float64, 1)
	c := connect(t, &memory{records: 3}, func(_ *Config, o *mcp.ClientOptions) {
		o.ProgressNotificationHandler = func(_ context.Context, req *mcp.ProgressNotificationClientRequest) { told <- req.Params.Progress }
	})
	p := &mcp.CallToolParams{Name: "forget", Arguments: args{"query": "hunter2"}}
	p.SetProgressToken("t")
	if res, err := c.CallTool(t.Context(), p); err != nil || res.IsError {
		t.Fatalf("got %+v, %v", res, err)
	}
	if got := <-told; got != 1 {
		t.Errorf("progress %v, want 1", got)
	}
}
