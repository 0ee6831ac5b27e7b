package mcp

import (
	"context"
	"errors"
	"regexp"
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

// A model that was told how to confirm cannot do so where the user can be asked.
func TestATicketDoesNotReplaceTheUser(t *testing.T) {
	t.Parallel()
	m := &memory{rows: someRows(1, "shop"), records: 3}
	c := connect(t, m, answering(func(*mcp.ElicitParams) (*mcp.ElicitResult, error) { return &mcp.ElicitResult{Action: "decline"}, nil }))
	ticket := c.server.ticket(forgetArgs{Query: "hunter2"}, 3, 100)
	if got := c.says("forget", args{"query": "hunter2", "confirm": ticket}); !strings.Contains(got, "did not agree") || len(m.forgets) > 0 {
		t.Errorf("got %s, erased %v", got, m.forgets)
	}
}

// ticketIn finds the word that confirms.
func ticketIn(t *testing.T, says string) string {
	t.Helper()
	found := regexp.MustCompile(`erase-\d+-records-up-to-\d+-[0-9a-f]{16}$`).FindString(says)
	if found == "" {
		t.Fatalf("no ticket in\n%s", says)
	}
	return found
}

func TestForgetInTwoSteps(t *testing.T) {
	t.Parallel()
	m := &memory{rows: someRows(2, "shop"), records: 3}
	c := connect(t, m, nil)
	proposed := c.says("forget", args{"project": "/src/shop", "since": "7d"})
	ticket := ticketIn(t, proposed)
	if !strings.HasPrefix(proposed, "Nothing is erased yet. This would erase 3 records for good (3 tool_used).\n<cmemd-context>") ||
		!strings.HasPrefix(ticket, "erase-3-records-up-to-100-") || len(m.forgets) > 0 {
		t.Fatalf("proposed:\n%s", proposed)
	}
	got := c.says("forget", args{"project": "/src/shop", "since": "7d", "confirm": ticket})
	want := []api.ForgetRequest{{Project: "/src/shop", Since: now.AddDate(0, 0, -7), Through: 100}}
	if diff := cmp.Diff(want, m.forgets); diff != "" || !strings.HasPrefix(got, "Erased for good: 3 records.") {
		t.Errorf("%s\n(-want +got):\n%s", got, diff)
	}
	c.says("search", nil)
	if q := m.searches[0]; q.After != 101 {
		t.Errorf("the search need not know position 101: %+v", q)
	}
}

// A ticket is for what was shown, and for nothing else.
func TestTicketsOfOthers(t *testing.T) {
	t.Parallel()
	m := &memory{rows: someRows(2, "shop"), records: 3}
	c := connect(t, m, nil)
	in := args{"session": "s1", "ids": []string{"aaaaaaaa"}}
	ticket := ticketIn(t, c.says("forget", in))
	refuse := func(name string, in args, ticket, want string) {
		in["confirm"] = ticket
		if got, failed := c.call("forget", in); !failed || !strings.Contains(got, want) || !strings.Contains(got, "without confirm") {
			t.Errorf("%s: got %v %s, want %q", name, failed, got, want)
		}
	}
	const other = "is not what a call with these arguments returned"
	refuse("other arguments", args{"session": "s2", "ids": []string{"aaaaaaaa"}}, ticket, other)
	refuse("more arguments", args{"session": "s1"}, ticket, other)
	refuse("another number", args{"session": "s1", "ids": []string{"aaaaaaaa"}}, strings.Replace(ticket, "-3-", "-4-", 1), other)
	refuse("another position", args{"session": "s1", "ids": []string{"aaaaaaaa"}}, strings.Replace(ticket, "-100-", "-900-", 1), other)
	refuse("made up", args{"session": "s1", "ids": []string{"aaaaaaaa"}}, "yes", other)
	refuse("of another process", args{"session": "s1", "ids": []string{"aaaaaaaa"}}, New(Config{Memory: m}).ticket(forgetArgs{Session: "s1", IDs: []string{"aaaaaaaa"}}, 3, 100), other)
	m.records = 4
	refuse("more would go by now", args{"session": "s1", "ids": []string{"aaaaaaaa"}}, ticket, "something else would go by now: This would erase 4 records")
	if len(m.forgets) > 0 {
		t.Errorf("erased %+v", m.forgets)
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
	if got := c.says("forget", args{"query": "nobody said this"}); got != "Nothing fits: there is nothing to erase." {
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
	ticket := c.server.ticket(forgetArgs{Query: "hunter2"}, 3, 100)
	p := &mcp.CallToolParams{Name: "forget", Arguments: args{"query": "hunter2", "confirm": ticket}}
	p.SetProgressToken("t")
	if res, err := c.CallTool(t.Context(), p); err != nil || res.IsError {
		t.Fatalf("got %+v, %v", res, err)
	}
	if got := <-told; got != 1 {
		t.Errorf("progress %v, want 1", got)
	}
}
