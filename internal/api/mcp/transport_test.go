package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Over lines of text, the end of the input is the end, and not an error.
func TestRun(t *testing.T) {
	t.Parallel()
	in, write := io.Pipe()
	read, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- New(Config{Memory: &memory{rows: someRows(1, "shop")}}).Run(t.Context(), in, out) }()
	lines := bufio.NewReader(read)
	say := func(line string) {
		if _, err := io.WriteString(write, line+"\n"); err != nil {
			t.Error(err)
		}
	}
	say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, `"name":"cmemd"`) {
		t.Fatalf("got %s, %v", line, err)
	}
	say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":null}}`)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "1 of 1 rows that you may reach") {
		t.Fatalf("got %s, %v", line, err)
	}
	if err := write.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("ended with %v", err)
	}
}

// TestLinesThatAreNoMessages: each is answered with an error without an id, or not at all, and the next line is read.
func TestLinesThatAreNoMessages(t *testing.T) {
	t.Parallel()
	const (
		parse, invalid = "-32700", "-32600"
		ping           = `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	)
	for name, c := range map[string]struct{ line, code string }{
		"blank":                  {"", ""},
		"blanks":                 {" \t\r", ""},
		"log":                    {"wrapper: started [pid 7]", parse},
		"cut":                    {`{"jsonrpc":"2.0","id":5,"method":"pi`, parse},
		"no text":                {"\x00\xff\xfe", parse},
		"two":                    {ping + ping, parse},
		"deep":                   {strings.Repeat("[", 200_000), parse},
		"too long":               {strings.Repeat("x", 3*maxRequest), invalid},
		"too long, of JSON":      {`{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":"` + strings.Repeat("x", maxRequest) + `"}}`, invalid},
		"number":                 {"5", invalid},
		"object":                 {"{}", invalid},
		"another version":        {`{"jsonrpc":"1.0","id":5,"method":"ping"}`, invalid},
		"a list as id":           {`{"jsonrpc":"2.0","id":[],"method":"ping"}`, invalid},
		"empty batch":            {"[]", invalid},
		"broken batch":           {"[1]", invalid},
		"twice an id in a batch": {`[` + ping + `,` + ping + `,{"jsonrpc":"2.0","id":9,"method":"ping"}]`, invalid},
		"an error of ours":       {`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"The line is no JSON."}}`, ""},
		"an unasked answer":      {`{"jsonrpc":"2.0","id":99,"result":{}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			in := c.line + "\n" + strings.Replace(ping, "7", "8", 1) + "\n"
			read, write := io.Pipe()
			ended := make(chan error, 1)
			go func() {
				ended <- New(Config{Memory: &memory{}}).Run(t.Context(), io.NopCloser(io.MultiReader(strings.NewReader(in), read)), lines{&out, write})
			}()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			got := strings.Split(strings.TrimSpace(out.String()), "\n")
			if last := got[len(got)-1]; !strings.Contains(last, `"id":8`) || !strings.Contains(last, `"result"`) {
				t.Errorf("the next line was answered by %s", last)
			}
			if c.code == "" && len(got) > 1 || c.code != "" && len(got) != 2 || c.code != "" && !strings.HasPrefix(got[0], `{"jsonrpc":"2.0","id":null,"error":{"code":`+c.code+`,`) {
				t.Errorf("got %q, want %s", got, c.code)
			}
		})
	}
}

// TestBatches: a version of the protocol that knows them has them answered, as one line.
func TestBatches(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	in, write := io.Pipe()
	batch := `[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","id":8,"method":"ping"}]` + "\n"
	if err := New(Config{Memory: &memory{}}).Run(t.Context(), io.NopCloser(io.MultiReader(strings.NewReader(batch), in)), lines{&out, write}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasPrefix(got, "[") || strings.Count(got, `"result"`) != 2 || strings.Count(got, "\n") != 1 {
		t.Errorf("got %q", got)
	}
}

// TestBatchWithNotifications: what is asked beside them is answered, and the end is not waited for.
func TestBatchWithNotifications(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const note = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`
		var out strings.Builder
		nothing, _ := io.Pipe()
		began := time.Now()
		in := `[` + note + `,{"jsonrpc":"2.0","id":7,"method":"ping"},` + note + `]` + "\n" + `[` + note + `]` + "\n"
		if err := New(Config{Memory: &memory{}}).Run(t.Context(), io.NopCloser(strings.NewReader(in)), lines{&out, nothing}); err != nil {
			t.Fatal(err)
		}
		if got, took := out.String(), time.Since(began); !strings.HasPrefix(got, "[") || strings.Count(got, `"id":7`) != 1 || took != 0 {
			t.Errorf("got %q after %v", got, took)
		}
	})
}

// TestInputThatEndsInALine: it is answered, and the end is no error.
func TestInputThatEndsInALine(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	in, write := io.Pipe()
	_ = write.Close()
	if err := New(Config{Memory: &memory{}}).Run(t.Context(), io.NopCloser(strings.NewReader(`{"jsonrpc":"2.0",`)), lines{&out, in}); err != nil {
		t.Error(err)
	}
	if want := `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"The line is no JSON."}}` + "\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// TestRequestsBeforeTheEnd: what was asked is answered, also where the input ends right behind it.
func TestRequestsBeforeTheEnd(t *testing.T) {
	t.Parallel()
	const asked = 20
	var in, out strings.Builder
	in.WriteString(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	for id := range asked {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search","arguments":{"query":"lock"}}}`+"\n", id)
	}
	nothing, _ := io.Pipe()
	if err := New(Config{Memory: &memory{rows: someRows(1, "shop")}}).Run(t.Context(), io.NopCloser(strings.NewReader(in.String())), lines{&out, nothing}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), `"result"`); got != asked+1 {
		t.Errorf("%d of %d requests were answered: %s", got, asked+1, out.String())
	}
}

// TestEndWhileAsking: a client that is gone before it answers a form is not waited for without end.
func TestEndWhileAsking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"forget","arguments":{"query":"lock"}}}` + "\n"
		nothing, _ := io.Pipe()
		began := time.Now()
		if err := New(Config{Memory: &memory{rows: someRows(1, "shop"), records: 3}}).Run(t.Context(), io.NopCloser(strings.NewReader(in)), lines{&out, nothing}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != lastAnswers || !strings.Contains(out.String(), "elicitation/create") {
			t.Errorf("ended after %v, want %v: %s", took, lastAnswers, out.String())
		}
	})
}

// TestEndWhileListening: a client that hears of changes for as long as it is there is not waited for when it is gone.
func TestEndWhileListening(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		in, write := io.Pipe()
		nothing, _ := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- New(Config{Memory: &memory{}}).Run(t.Context(), in, lines{&out, nothing}) }()
		const line = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` +
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
			`"io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n"
		if _, err := io.WriteString(write, line); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if !strings.Contains(out.String(), "subscriptions/acknowledged") {
			t.Errorf("it does not listen: %s", out.String())
		}
		began := time.Now()
		if err := errors.Join(write.Close(), <-ended); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("ended after %v", took)
		}
	})
}

// TestEndWhileNobodyReads: a client that reads nothing keeps nobody from ending.
func TestEndWhileNobodyReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		in, write := io.Pipe()
		unread, out := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- New(Config{Memory: &memory{}}).Run(ctx, in, out) }()
		if _, err := io.WriteString(write, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		began := time.Now()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) || time.Since(began) > endWait {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
		_ = errors.Join(unread.Close(), write.Close()) // as the process's end does
	})
}

// lines ends the input once the last request was answered.
type lines struct {
	*strings.Builder
	input io.Closer
}

func (l lines) Write(b []byte) (int, error) {
	n, err := l.Builder.Write(b)
	if strings.Contains(string(b), `"id":8`) {
		err = l.Close()
	}
	return n, err
}

func (l lines) Close() error { return l.input.Close() }

func TestRunIsStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	in, _ := io.Pipe()
	_, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- New(Config{Memory: &memory{}}).Run(ctx, in, out) }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// Clients of every version speak HTTP, and are gone once the server is closed.
func TestHTTP(t *testing.T) {
	t.Parallel()
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := New(Config{Memory: &memory{rows: someRows(1, "shop"), records: 3}})
			web := httptest.NewServer(s)
			defer web.Close()
			opts := &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"erase": true}}, nil
			}}
			session, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, opts).Connect(t.Context(),
				&mcp.StreamableClientTransport{Endpoint: web.URL}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			for tool, want := range map[string]string{"search": "1 of 1 rows", "forget": "Erased for good"} {
				res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args{"query": "lock"}})
				if err != nil || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, want) {
					t.Errorf("%s: got %+v, %v, want %q", tool, res, err, want)
				}
			}
			if err := errors.Join(session.Close(), s.Close()); err != nil {
				t.Error(err)
			}
			for range s.sdk.Sessions() {
				t.Error("a session is left")
			}
		})
	}
}

// A request of more bytes than the longest memory takes is refused.
func TestHTTPBodiesAreBounded(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(New(Config{Memory: &memory{}}))
	defer web.Close()
	req, err := http.NewRequestWithContext(t.Context(), "POST", web.URL, strings.NewReader(`{"a":"`+strings.Repeat("x", maxRequest)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("got %s, want 413", res.Status)
	}
}
