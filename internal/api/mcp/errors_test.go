package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cmemd/cmemd/internal/api"
)

// What goes wrong is told to the model, with what it can do.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err        error
		says, next string
	}{
		"no daemon":   {fmt.Errorf("%w: the disk is full", api.ErrNotRunning), ": the disk is full", "`cmemd start`"},
		"cut":         {fmt.Errorf("%w: EOF", api.ErrCut), "The daemon stopped", "once more"},
		"too slow":    {context.DeadlineExceeded, "It took too long.", "ask for less"},
		"bad id":      {&api.Problem{Type: api.ProblemInvalid, Status: 400, Errors: []api.FieldError{{Pointer: "id", Detail: "is no id"}}}, "id: is no id (400)", "correct that argument"},
		"not there":   {&api.Problem{Type: api.ProblemNotFound, Status: 404, Detail: "no row has that id"}, "no row has that id", "search for it"},
		"ambiguous":   {&api.Problem{Type: api.ProblemAmbiguous, Status: 409, Errors: []api.FieldError{{Pointer: "id", Detail: "may be 01a1"}}}, "may be 01a1", "more of the id"},
		"busy":        {&api.Problem{Type: api.ProblemBusy, Status: 503, RetryAfter: 3 * time.Second, Title: "Too much"}, "Too much", "try again in 3s."},
		"disk":        {&api.Problem{Type: api.ProblemDiskFull, Status: 503, Title: "The disk is nearly full"}, "The disk", "makes room"},
		"inside":      {&api.Problem{Type: api.ProblemInternal, Status: 500, Title: "Something"}, "Something", "`cmemd logs`"},
		"anything":    {errors.New("api: strange"), "It failed: api: strange", "go on without it"},
		"very long":   {errors.New(strings.Repeat("x", 1<<20)), "It failed: xxx", "go on"},
		"with escape": {errors.New("\x1b[2J<system-reminder>"), "It failed: [2J‹system-reminder>", "go on"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := connect(t, &memory{err: c.err, records: 1}, nil)
			for _, call := range []struct {
				tool string
				in   args
			}{
				{"search", args{"query": "a"}}, {"timeline", args{"query": "a"}}, {"get", args{"ids": []string{"a"}}}, {"get", args{"ids": []string{"a"}, "inputs": true}},
				{"why", args{"id": "a"}}, {"save", args{"text": "a"}}, {"forget", args{"query": "abc"}}, {"status", nil},
			} {
				got, failed := client.call(call.tool, call.in)
				says, next, _ := strings.Cut(got, "\nNext: ")
				if !failed || !strings.Contains(says, c.says) || !strings.Contains(next, c.next) || len(got) > 2000 {
					t.Errorf("%s: got %v %.300s, want %q and %q", call.tool, failed, got, c.says, c.next)
				}
			}
		})
	}
}

// Arguments that no schema allows are refused in few words, and nothing is asked.
func TestHostileArguments(t *testing.T) {
	t.Parallel()
	m := &memory{}
	c := connect(t, m, nil)
	long := strings.Repeat("\u202e🧨", 30_000)
	for name, call := range map[string]struct {
		tool string
		in   any
	}{
		"unknown name":       {"search", args{"quer": "a"}},
		"a list for a word":  {"search", args{"query": []string{"a"}}},
		"a word for a list":  {"get", args{"ids": "aaaaaaaa"}},
		"null for a list":    {"get", args{"ids": nil}},
		"an empty list":      {"get", args{"ids": []string{}}},
		"none":               {"get", args{}},
		"an endless list":    {"get", args{"ids": strings.Split(strings.Repeat("aaaaaaaa,", 1000), ",")}},
		"a long word":        {"search", args{"query": long}},
		"a long id":          {"why", args{"id": long}},
		"a long name":        {"search", args{long: 1}},
		"a number too small": {"search", args{"limit": -1}},
		"a number too large": {"search", args{"limit": 1e18}},
		"a fraction":         {"search", args{"limit": 1.5}},
		"no such word":       {"search", args{"kind": "secret"}},
		"no time":            {"search", args{"since": long[:200]}},
		"blank anchors":      {"timeline", args{"anchor": " ", "query": "\t"}},
		"both":               {"timeline", args{"anchor": "a", "query": "b"}},
		"empty text":         {"save", args{"text": ""}},
		"all projects":       {"save", args{"text": "a", "project": "*"}},
		"ids in one":         {"get", args{"ids": []string{"aaaaaaaa, bbbbbbbb"}}},
		"a list":             {"search", []string{"a"}},
	} {
		res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: call.tool, Arguments: call.in})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := res.Content[0].(*mcp.TextContent).Text
		if !res.IsError || !strings.Contains(got, "\nNext: ") || len(got) > 4000 {
			t.Errorf("%s: got %v %.300s, want a refusal with the next step", name, res.IsError, got)
		}
		checkBound(t, name, got)
	}
	if n := len(m.searches) + len(m.lines) + len(m.reads) + len(m.whys) + len(m.saves); n > 0 {
		t.Errorf("%d of them were asked for", n)
	}
	if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "search"}); err != nil || len(m.searches) == 0 || m.searches[0].Limit != 20 {
		t.Errorf("without arguments: %v, asked %+v", err, m.searches)
	}
}

// panicking is a memory that panics where a status is asked for.
type panicking struct{ *memory }

func (p panicking) Invoke(ctx context.Context, e api.Endpoint, query, answer any, progress func(api.Progress)) error {
	if e == api.Endpoint(api.StatusRoute) {
		panic("words of a memory")
	}
	return p.memory.Invoke(ctx, e, query, answer, progress)
}

// A panic ends one request, and says nothing of what was remembered.
func TestAPanicEndsOneRequest(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	c := connect(t, &memory{}, func(cfg *Config, _ *mcp.ClientOptions) {
		cfg.Memory, cfg.Logger = panicking{&memory{}}, slog.New(slog.NewTextHandler(&log, nil))
	})
	if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "status"}); err == nil || strings.Contains(err.Error(), "words") {
		t.Errorf("got %v, want an error without words", err)
	}
	if !strings.Contains(log.String(), "panic") || strings.Contains(log.String(), "words of") {
		t.Errorf("logged %s", log.String())
	}
	c.says("search", nil)
}
