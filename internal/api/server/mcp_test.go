package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/api"
)

// makeRun makes the folder of a home in which the socket is.
func makeRun(t *testing.T, home string) string {
	t.Helper()
	dir := filepath.Join(home, "run")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// face answers with the status that the server's own client tells, or streams until the request ends.
func face(own api.Invoker) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, ": here\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		st, err := api.StatusRoute.Call(r.Context(), own, api.NoQuery{})
		fmt.Fprint(w, st.PID, err)
	})
}

func TestFaceIsGuarded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *testConfig) { c.MCP = face })
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"token":          {func(*http.Request) {}, 200},
		"own origin":     {func(r *http.Request) { r.Header.Set("Origin", "http://"+w.tcp) }, 200},
		"no token":       {func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"another token":  {func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, 401},
		"foreign origin": {func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		"foreign host":   {func(r *http.Request) { r.Host = "evil.example" }, 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+w.tcp+"/mcp", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+testToken)
			c.change(req)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != c.want || (c.want == 200) != (string(body) == "7 <nil>") {
				t.Errorf("got %d %s, %v, want %d", res.StatusCode, body, err, c.want)
			}
		})
	}
}

// A face may ask whatever the request may that it serves.
func TestFaceOverTheSocket(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *testConfig) { c.MCP = face })
	res, err := w.client.Do(t.Context(), "POST", "/mcp", nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != "7 <nil>" {
		t.Errorf("got %s, %v", body, err)
	}
}

// Without a face there is no such path.
func TestNoFace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if p := problem(t, call(t.Context(), w.client, "POST", "/mcp", nil, struct{}{}, nil)); p.Status != 404 {
		t.Errorf("got %+v, want 404", p)
	}
}

// A stream of the face ends with the server, without the grace that requests under way are given.
func TestAFacesStreamEndsWithTheServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *testConfig) { c.MCP = face })
	res, err := w.client.Do(context.WithoutCancel(t.Context()), "GET", "/mcp", nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	r := bufio.NewReader(res.Body)
	if line, err := r.ReadString('\n'); line != ": here\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	w.end()
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Errorf("the stream was cut, as it is when the grace is over: %v", err)
	}
}
