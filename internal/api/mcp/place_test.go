package mcp

import (
	"context"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The folder that a client names comes before the one that the server was started in.
func TestProjectOfTheCaller(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		roots []string // nil: the client names none
		dir   string
		want  string
	}{
		"started there":        {nil, "/src/shop", "/src/shop"},
		"named by the client":  {[]string{"file:///src/till"}, "/src/shop", "/src/till"},
		"the first":            {[]string{"https://x.example/", "file:///src/a%20b", "file:///src/c"}, "", "/src/a b"},
		"on another machine":   {[]string{"file://there/src/till"}, "/src/shop", "/src/shop"},
		"of no folder":         {[]string{}, "/src/shop", "/src/shop"},
		"nobody knows":         {nil, "", ""},
		"nobody can know that": {[]string{"file:relative", "::", "file://"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &memory{rows: someRows(1, "shop")}
			checkPlace(t, m, c.roots, c.dir, c.want)
		})
	}
}

// checkPlace has a client with such roots search, and looks which project it searched in.
func checkPlace(t *testing.T, m *memory, roots []string, dir, want string) {
	t.Helper()
	s := New(Config{Memory: m, Dir: dir, Now: func() time.Time { return now }})
	far, near := mcp.NewInMemoryTransports()
	if _, err := s.sdk.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	opts := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	if roots != nil {
		opts.Capabilities = nil
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts)
	for _, uri := range roots {
		//lint:ignore SA1019 clients of today name their folders so
		c.AddRoots(&mcp.Root{URI: uri})
	}
	session, err := c.Connect(t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if _, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "search"}); err != nil {
		t.Fatal(err)
	}
	if got := m.searches[0].Project; got != want {
		t.Errorf("searched in %q, want %q", got, want)
	}
}
