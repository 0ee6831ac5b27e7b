package mcp

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cmemd/cmemd/internal/api"
)

// read reads a resource.
func (c *client) read(uri string) (string, error) {
	c.t.Helper()
	res, err := c.ReadResource(c.t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	if len(res.Contents) != 1 || res.Contents[0].URI != uri || res.Contents[0].MIMEType != "text/markdown" || res.CacheScope != "private" {
		c.t.Errorf("%s: got %+v", uri, res)
	}
	return res.Contents[0].Text, nil
}

func TestResources(t *testing.T) {
	t.Parallel()
	m := &memory{rows: someRows(3, "shop")}
	c := connect(t, m, nil)
	listed, err := c.ListResourceTemplates(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var templates []string
	for _, r := range listed.ResourceTemplates {
		templates = append(templates, r.URITemplate)
		if r.Description == "" || r.Title == "" || r.MIMEType == "" {
			t.Errorf("%s says nothing of itself", r.URITemplate)
		}
	}
	if diff := cmp.Diff([]string{uriContextOf, uriObservation, uriSession}, templates); diff != "" {
		t.Errorf("templates (-want +got):\n%s", diff)
	}
	id := idOf("shop 1").String()
	for uri, want := range map[string]string{
		"cmemd://context":                 "of /src/shop",
		"cmemd://context/till":            "of till",
		"cmemd://context/%2Fsrc%2Fmy%20a": "of /src/my a",
		"cmemd://observation/" + id:       "## m2 bugfix: The cart",
		"cmemd://session/s1":              "of claude-code: 4 tool uses, opened 2026-11-21T12:00Z.",
	} {
		got, err := c.read(uri)
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: got %s, %v, want %q", uri, got, err, want)
		}
		checkBound(t, uri, got)
	}
	for _, uri := range []string{
		"cmemd://observation/01a1fa47-2048-7378", "cmemd://session/s2", "cmemd://nothing/a", "cmemd://observation/../secret", "file:///etc/passwd",
		"cmemd://context/" + strings.Repeat("a", 9000), "cmemd://observation/%zz",
	} {
		if got, err := c.read(uri); err == nil || !strings.Contains(err.Error(), "not found") {
			t.Errorf("%.100s: got %q, %v, want that it is not found", uri, got, err)
		}
	}
}

// A session with more than an answer holds shows the rest in short.
func TestALongSession(t *testing.T) {
	t.Parallel()
	m := &memory{rows: someRows(120, "shop")}
	for i := range m.rows {
		m.rows[i].Narrative = strings.Repeat("The cart waited for the wrong lock. ", 40)
	}
	got, err := connect(t, m, nil).read("cmemd://session/s1")
	if err != nil {
		t.Fatal(err)
	}
	checkBound(t, "session", got)
	if strings.Count(got, "\n## ") < 10 || strings.Count(got, "\n- m120 ") != 1 || !strings.Contains(got, "in short") {
		t.Errorf("got\n%.3000s", got)
	}
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	c := connect(t, &memory{rows: someRows(2, "shop")}, nil)
	got, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "recall", Arguments: map[string]string{"topic": "the lock"}})
	if err != nil || len(got.Messages) != 1 || got.Messages[0].Role != "user" {
		t.Fatalf("got %+v, %v", got, err)
	}
	text := got.Messages[0].Content.(*mcp.TextContent).Text
	for _, want := range []string{"what is known about: the lock", "2 of 2 rows in project \"shop\"", "`get`"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	checkBound(t, "prompt", text)
	if _, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "recall"}); err == nil {
		t.Error("a prompt without a topic")
	}
	down := connect(t, &memory{err: api.ErrNotRunning}, nil)
	if got, err := down.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "recall", Arguments: map[string]string{"topic": "a"}}); err != nil ||
		!strings.Contains(got.Messages[0].Content.(*mcp.TextContent).Text, "cmemd start") {
		t.Errorf("without a daemon: got %+v, %v", got, err)
	}
}
