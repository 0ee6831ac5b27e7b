package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/api/signin"
	"github.com/cmemd/cmemd/internal/peer"
)

// shows gives a world a page, and lets browsers in. Whoever asks over the socket is p.
func shows(tb testing.TB, p peer.Peer, more ...func(*testConfig)) func(*testConfig) {
	tb.Helper()
	register, err := signin.Open(filepath.Join(tb.TempDir(), "viewers.json"), signin.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	return func(c *testConfig) {
		c.Browsers, c.Peer = register, func(net.Conn) peer.Peer { return p }
		c.Viewer = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-cache")
			fmt.Fprint(w, "the page: ", r.URL.Path)
		})
		for _, change := range more {
			change(c)
		}
	}
}

// tab is a browser's tab: what it keeps in memory, and the key that it cannot tell.
type tab struct {
	w      *world
	key    *ecdsa.PrivateKey
	id     string
	bearer string
}

// ask sends a request as the page's fetch does, and stores the answer in out, unless that is nil.
func (b *tab) ask(tb testing.TB, method, path string, in, out any) (status int) {
	tb.Helper()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			tb.Fatal(err)
		}
		body = bytes.NewReader(text)
	}
	res := b.w.remote(tb, func(r *http.Request) {
		r.Method, r.Close, r.Header = method, true, http.Header{"Sec-Fetch-Site": {"same-origin"}, "Sec-Fetch-Mode": {"cors"}, "Sec-Fetch-Dest": {"empty"}}
		r.URL.Path, r.URL.RawQuery, _ = strings.Cut(path, "?")
		if method != http.MethodGet {
			r.Header.Set("Origin", "http://"+b.w.tcp)
		}
		if body != nil {
			r.Body = io.NopCloser(body)
		}
		if b.bearer != "" {
			r.Header.Set("Authorization", "Bearer "+b.bearer)
		}
	})
	text, err := io.ReadAll(res.Body)
	if err != nil {
		tb.Fatal(err)
	}
	if out != nil && res.StatusCode == http.StatusOK {
		if err := json.Unmarshal(text, out); err != nil {
			tb.Fatalf("%s: %v", text, err)
		}
	}
	return res.StatusCode
}

// work asks for what takes its time, without a body where in is nil, and returns the answer, with its progress, as it is.
func (b *tab) work(tb testing.TB, path string, in any) string {
	tb.Helper()
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			tb.Fatal(err)
		}
	}
	res := b.w.remote(tb, func(r *http.Request) {
		r.Method, r.URL.Path, r.Body = "POST", path, io.NopCloser(bytes.NewReader(body))
		r.Header = http.Header{"Authorization": {"Bearer " + b.bearer}}
	})
	text, err := io.ReadAll(res.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// link asks for a link over the socket, and returns its code.
func (w *world) link(tb testing.TB, q api.LinkRequest) (api.Link, string) {
	tb.Helper()
	link, err := api.LinkRoute.Call(tb.Context(), w.client, q)
	if err != nil {
		tb.Fatal(err)
	}
	at, err := url.Parse(link.URL)
	if err != nil || at.Host != w.tcp || at.Path != "/ui/" || strings.Contains(at.RawQuery, "c=") {
		tb.Fatalf("got %s, %v", link.URL, err)
	}
	return link, strings.TrimPrefix(at.Fragment, "c=")
}

// TestStrangersAreNotLetIn: a link stands in the arguments of the program that opens a browser, where every user of the machine reads it.
func TestStrangersAreNotLetIn(t *testing.T) {
	t.Parallel()
	var other atomic.Bool
	w := newWorld(t, shows(t, peer.Peer{}, func(c *testConfig) {
		c.Peer = func(net.Conn) peer.Peer { return peer.Peer{Person: true, Stranger: other.Load()} }
	}))
	_, code := w.link(t, api.LinkRequest{})
	other.Store(true)
	if status := w.newTab(t).enrol(t, code); status != http.StatusForbidden {
		t.Errorf("another user's browser: got %d", status)
	}
	other.Store(false)
	if status := w.newTab(t).enrol(t, code); status != http.StatusOK {
		t.Errorf("the person's browser after that: got %d", status)
	}
}

// browser is a tab that has enrolled and signed in.
func (w *world) browser(tb testing.TB, q api.LinkRequest) *tab {
	tb.Helper()
	_, code := w.link(tb, q)
	b := w.newTab(tb)
	if status := b.enrol(tb, code); status != http.StatusOK {
		tb.Fatalf("enrolling: %d", status)
	}
	if status := b.signIn(tb); status != http.StatusOK {
		tb.Fatalf("signing in: %d", status)
	}
	return b
}

func (w *world) newTab(tb testing.TB) *tab {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return &tab{w: w, key: key}
}

func (b *tab) enrol(tb testing.TB, code string) (status int) {
	tb.Helper()
	public, err := b.key.PublicKey.Bytes()
	if err != nil {
		tb.Fatal(err)
	}
	var in api.Enrolled
	status = b.ask(tb, "POST", "/v1/ui/viewers", api.EnrolRequest{Code: code, Key: public}, &in)
	b.id = in.ID
	return status
}

func (b *tab) signIn(tb testing.TB) (status int) {
	tb.Helper()
	b.bearer = ""
	var n api.Nonce
	if status := b.ask(tb, "POST", "/v1/ui/nonces", api.NonceRequest{Viewer: b.id}, &n); status != http.StatusOK {
		return status
	}
	hash := sha256.Sum256([]byte("cmemd sign-in\n" + n.Nonce))
	r, s, err := ecdsa.Sign(rand.Reader, b.key, hash[:])
	if err != nil {
		tb.Fatal(err)
	}
	signature := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	var in api.SignedIn
	status = b.ask(tb, "POST", "/v1/ui/sessions", api.SignInRequest{Viewer: b.id, Nonce: n.Nonce, Signature: signature}, &in)
	b.bearer = in.Bearer
	return status
}

var aPerson = peer.Peer{Person: true}

// TestWhoGetsWhichPage: a person one that edits, unless they ask for less; everybody else one that shows.
func TestWhoGetsWhichPage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		peer     peer.Peer
		readOnly bool
		want     api.Scope
	}{
		"a person": {aPerson, false, api.ScopeEdit}, "a person who asks for less": {aPerson, true, api.ScopeView},
		"an agent": {peer.Peer{}, false, api.ScopeView}, "an agent who asks for less": {peer.Peer{}, true, api.ScopeView},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, shows(t, c.peer))
			link, _ := w.link(t, api.LinkRequest{ReadOnly: c.readOnly, Project: "shop & co"})
			if link.Scope != c.want || !strings.Contains(link.URL, "?project=shop+%26+co#c=") {
				t.Errorf("got %+v", link)
			}
			b := w.browser(t, api.LinkRequest{ReadOnly: c.readOnly})
			if status := b.ask(t, "POST", "/v1/memories", api.Memory{Project: "shop", Text: "said on the page"}, nil); (status == 200) != (c.want == api.ScopeEdit) {
				t.Errorf("saving: %d", status)
			}
			if n := w.count(t, events.KindOf(events.MemorySaved{})); (n == 1) != (c.want == api.ScopeEdit) {
				t.Errorf("%d were saved", n)
			}
		})
	}
}

// TestThePageIsThePersons: what they do there is theirs on record, and what a person alone decides is decided there too.
func TestThePageIsThePersons(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shows(t, aPerson))
	b := w.browser(t, api.LinkRequest{})
	var saved api.Saved
	if status := b.ask(t, "POST", "/v1/memories", api.Memory{Project: "shop", Text: "Deploys go out on Tuesdays."}, &saved); status != 200 {
		t.Fatalf("saving: %d", status)
	}
	w.settled(t)
	var row api.Row
	if status := b.ask(t, "GET", "/v1/observations/"+saved.ID.String(), nil, &row); status != 200 || row.Writer != events.WriterPerson {
		t.Errorf("got %d, %q", status, row.Writer)
	}
	if status := b.ask(t, "POST", "/v1/memories/"+saved.ID.String()+"/confirm", struct{}{}, nil); status != 409 { // it is theirs already
		t.Errorf("confirming: %d", status)
	}
	only := w.browser(t, api.LinkRequest{ReadOnly: true})
	if status := only.ask(t, "POST", "/v1/memories/"+saved.ID.String()+"/confirm", struct{}{}, nil); status != 403 {
		t.Errorf("confirming where a page only shows: %d", status)
	}
}

// TestScopesOfEveryRoute asks every route of the table without a key, with the keys of pages that show and that edit, with the token, and
// over the socket of an agent and of a person. Who may not ask is told so, whatever else is wrong with the request.
func TestScopesOfEveryRoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shows(t, aPerson))
	page := func(readOnly bool) func() *tab {
		return func() *tab { return w.browser(t, api.LinkRequest{ReadOnly: readOnly}) }
	}
	always := func(bearer string) func() *tab { return func() *tab { return &tab{w: w, bearer: bearer} } }
	asks := map[string]struct {
		tab  func() *tab // anew for each route: some let browsers out
		most api.Scope
	}{
		"nobody": {always(""), api.ScopeAnybody}, "a wrong key": {always("wrong"), api.ScopeAnybody}, "a page that shows": {page(true), api.ScopeView},
		"a page that edits": {page(false), api.ScopeEdit}, "the token": {always(testToken), api.ScopeOwn},
	}
	for who, a := range asks {
		for pattern, e := range w.server.endpoints {
			w.server.browsers.gate.wrongTokens = bucket{} // so that a refusal says why
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			status := a.tab().askFor(ctx, t, e.Endpoint)
			cancel()
			may := e.Scope <= a.most || e.Scope == api.ScopePerson && who == "a page that edits"
			refused := status == http.StatusForbidden || status == http.StatusUnauthorized && !isSignIn(e.Endpoint)
			if may == refused {
				t.Errorf("%s asks %s (%s): %d", who, pattern, e.Scope, status)
			}
		}
	}
	if st, err := api.StatusRoute.Call(t.Context(), w.client, api.NoQuery{}); err != nil || st.PID != 7 {
		t.Errorf("afterwards: %v", err)
	}
}

// isSignIn reports whether e is open to anybody, and answers 401 to what opens nothing.
func isSignIn(e api.Endpoint) bool {
	return e.Scope == api.ScopeAnybody && strings.HasPrefix(e.Path, "/v1/ui/")
}

// askFor asks e for nothing in particular, by the tab's own id where it wants one, and returns the status alone.
func (b *tab) askFor(ctx context.Context, tb testing.TB, e api.Endpoint) int {
	tb.Helper()
	path := strings.NewReplacer("{id}", cmp.Or(b.id, "none"), "{name}", "none", "{agent}", "claude-code", "{source}", "claude-mem").Replace(e.Path)
	req, err := http.NewRequestWithContext(ctx, e.Method, "http://"+b.w.tcp+path, strings.NewReader("{}"))
	if err != nil {
		tb.Fatal(err)
	}
	if b.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+b.bearer)
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		tb.Fatalf("%s: %v", e.Pattern(), err)
	}
	defer res.Body.Close()
	return res.StatusCode
}

// TestThePageIsNoAgent: /mcp is agents', whatever the page may.
func TestThePageIsNoAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shows(t, aPerson, func(c *testConfig) { c.MCP = face }))
	b := w.browser(t, api.LinkRequest{})
	if status := b.ask(t, "POST", "/mcp", struct{}{}, nil); status != 403 {
		t.Errorf("got %d", status)
	}
}

// TestALinkIsForTheSocket: who has the token, or a page, makes none.
func TestALinkIsForTheSocket(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shows(t, aPerson))
	b := w.browser(t, api.LinkRequest{})
	if status := b.ask(t, "POST", "/v1/ui/links", api.LinkRequest{}, nil); status != 403 {
		t.Errorf("a page: %d", status)
	}
	b.bearer = testToken
	if status := b.ask(t, "POST", "/v1/ui/links", api.LinkRequest{}, nil); status != 403 {
		t.Errorf("the token: %d", status)
	}
	w = newWorld(t, shows(t, aPerson, func(c *testConfig) { c.swap = func(s *Server) { s.browsers.address = func() string { return "" } } }))
	if _, err := api.LinkRoute.Call(t.Context(), w.client, api.LinkRequest{}); problem(t, err).Status != 409 {
		t.Errorf("no address: %v", err)
	}
}

// TestALinkOpensOnce: its second use is refused, and ends what the first one let in, streams too. The log file tells of it, and has no code.
func TestALinkOpensOnce(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	logger := testLogger(&said)
	w := newWorld(t, shows(t, aPerson, func(c *testConfig) {
		c.Logger = logger
		c.Browsers, _ = signin.Open(filepath.Join(t.TempDir(), "v.json"), signin.Config{Logger: logger}) // of none there is no error
	}))
	_, code := w.link(t, api.LinkRequest{})
	first, second := w.newTab(t), w.newTab(t)
	if a, b := first.enrol(t, code), first.signIn(t); a != 200 || b != 200 {
		t.Fatalf("the first: %d, %d", a, b)
	}
	stream := w.remote(t, func(r *http.Request) {
		r.URL.Path = "/v1/events"
		r.Header.Set("Authorization", "Bearer "+first.bearer)
	})
	ended := make(chan struct{})
	go func() { defer close(ended); _, _ = io.Copy(io.Discard, stream.Body) }()
	if status := second.enrol(t, code); status != 401 {
		t.Errorf("the second: %d", status)
	}
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the first one's stream goes on")
	}
	if status := first.ask(t, "GET", "/v1/sessions", nil, nil); status != 401 {
		t.Errorf("the first one's bearer: %d", status)
	}
	if status := first.signIn(t); status != 401 {
		t.Errorf("the first one's key: %d", status)
	}
	w.end()
	if text := said.String(); !strings.Contains(text, "used twice") || strings.Contains(text, code) || strings.Contains(text, first.bearer) && first.bearer != "" {
		t.Errorf("the log file says\n%s", text)
	}
}

// TestSignOut: a browser lets itself out; one that edits lets others out, all of them too; so does another token.
func TestSignOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shows(t, aPerson, func(c *testConfig) { c.NewToken = func() (string, error) { return "another", nil } }))
	edits, shown, other := w.browser(t, api.LinkRequest{}), w.browser(t, api.LinkRequest{ReadOnly: true}), w.browser(t, api.LinkRequest{ReadOnly: true})
	var list api.Viewers
	if status := shown.ask(t, "GET", "/v1/ui/viewers", nil, &list); status != 200 || len(list.Viewers) != 3 {
		t.Fatalf("got %d, %+v", status, list)
	}
	if i := slices.IndexFunc(list.Viewers, func(v api.Viewer) bool { return v.Asks }); i < 0 || list.Viewers[i].ID != shown.id {
		t.Errorf("who asks is not marked: %+v", list)
	}
	for name, c := range map[string]struct {
		by   *tab
		id   string
		want int
	}{
		"another one, where the page only shows": {shown, edits.id, 403}, "one that is none": {edits, "none", 404},
	} {
		if got := c.by.ask(t, "DELETE", "/v1/ui/viewers/"+c.id, nil, nil); got != c.want {
			t.Errorf("%s: %d", name, got)
		}
	}
	if status := shown.ask(t, "DELETE", "/v1/ui/viewers", nil, nil); status != 403 {
		t.Errorf("all, where the page only shows: %d", status)
	}
	if status := shown.ask(t, "DELETE", "/v1/ui/viewers/"+shown.id, nil, nil); status != 200 || shown.ask(t, "GET", "/v1/sessions", nil, nil) != 401 {
		t.Errorf("itself: %d", status)
	}
	if status := edits.ask(t, "DELETE", "/v1/ui/viewers/"+other.id, nil, nil); status != 200 || other.ask(t, "GET", "/v1/sessions", nil, nil) != 401 {
		t.Errorf("another one: %d", status)
	}
	if err := w.client.RotateToken(t.Context()); err != nil || edits.ask(t, "GET", "/v1/sessions", nil, nil) != 401 || edits.signIn(t) != 401 {
		t.Errorf("after another token: %v", err)
	}
	edits = w.browser(t, api.LinkRequest{})
	if status := edits.ask(t, "DELETE", "/v1/ui/viewers", nil, nil); status != 200 || edits.ask(t, "GET", "/v1/sessions", nil, nil) != 401 {
		t.Errorf("all: %d", status)
	}
}

// TestGuessesOfBrowsersAreBounded: codes, viewers and signatures that open nothing share the bucket of wrong tokens, and whoever is let in
// is served all the while.
func TestGuessesOfBrowsersAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shows(t, aPerson))
	in, guesses := w.browser(t, api.LinkRequest{}), w.newTab(t)
	count := map[int]int{}
	for range guessBurst {
		count[guesses.enrol(t, "guess")]++
		count[guesses.ask(t, "POST", "/v1/ui/nonces", api.NonceRequest{Viewer: "guess"}, nil)]++
		count[guesses.ask(t, "POST", "/v1/ui/sessions", api.SignInRequest{Viewer: in.id}, nil)]++
	}
	if count[401] < guessBurst || count[429] == 0 || len(count) != 2 {
		t.Errorf("answers by status: %v", count)
	}
	if status := in.ask(t, "GET", "/v1/sessions", nil, nil); status != 200 {
		t.Errorf("who is let in: %d", status)
	}
	if status := in.signIn(t); status != 200 {
		t.Errorf("signing in again: %d", status)
	}
}

// TestThePagesDoor: the page's files are anybody's who opens them in a tab or is of their origin, at one address, with headers that keep
// the page from running and loading anything else.
func TestThePagesDoor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shows(t, aPerson))
	_, port, err := net.SplitHostPort(w.tcp)
	if err != nil {
		t.Fatal(err)
	}
	from := func(site, mode, dest string) http.Header {
		return http.Header{"Sec-Fetch-Site": {site}, "Sec-Fetch-Mode": {mode}, "Sec-Fetch-Dest": {dest}}
	}
	for name, c := range map[string]struct {
		method, path, host string
		header             http.Header
		want               int
	}{
		"typed":                        {"GET", "/ui/", w.tcp, from("none", "navigate", "document"), 200},
		"a foreign link":               {"GET", "/ui/log", w.tcp, from("cross-site", "navigate", "document"), 200},
		"a link on another port":       {"GET", "/ui/", w.tcp, from("same-site", "navigate", "document"), 200},
		"its own script":               {"GET", "/ui/app.js", w.tcp, from("same-origin", "cors", "script"), 200},
		"an older browser":             {"GET", "/ui/", w.tcp, nil, 200},
		"its head":                     {"HEAD", "/ui/", w.tcp, nil, 200},
		"a foreign frame":              {"GET", "/ui/", w.tcp, from("cross-site", "navigate", "iframe"), 403},
		"a foreign script":             {"GET", "/ui/app.js", w.tcp, from("cross-site", "no-cors", "script"), 403},
		"a foreign fetch":              {"GET", "/ui/", w.tcp, from("cross-site", "cors", "empty"), 403},
		"a foreign object":             {"GET", "/ui/", w.tcp, from("cross-site", "navigate", "object"), 403},
		"a foreign form":               {"POST", "/ui/", w.tcp, from("cross-site", "navigate", "document"), 403},
		"a form of its own":            {"POST", "/ui/", w.tcp, nil, 401},
		"data by a foreign link":       {"GET", "/v1/sessions", w.tcp, from("cross-site", "navigate", "document"), 403},
		"sign-in from elsewhere":       {"POST", "/v1/ui/nonces", w.tcp, from("cross-site", "cors", "empty"), 403},
		"sign-in from another port":    {"POST", "/v1/ui/viewers", w.tcp, from("same-site", "cors", "empty"), 403},
		"by the name localhost":        {"GET", "/ui/why/m4?as_of=3", "localhost:" + port, nil, 307},
		"by ::1":                       {"GET", "/ui/", "[::1]:" + port, nil, 307},
		"by a name made to point here": {"GET", "/ui/", "evil.example:" + port, nil, 403},
		"a foreign script by a name":   {"GET", "/ui/app.js", "localhost:" + port, from("cross-site", "no-cors", "script"), 403},
	} {
		t.Run(name, func(t *testing.T) {
			res := w.remote(t, func(r *http.Request) {
				r.Method, r.Host, r.Header = c.method, c.host, c.header
				r.URL.Path, r.URL.RawQuery, _ = strings.Cut(c.path, "?")
				if r.Header == nil {
					r.Header = http.Header{}
				}
			})
			if res.StatusCode != c.want {
				t.Fatalf("got %d, want %d", res.StatusCode, c.want)
			}
			h := res.Header
			if h.Get("Access-Control-Allow-Origin") != "" || h.Get("X-Frame-Options") != "DENY" || h.Get("Set-Cookie") != "" {
				t.Errorf("got %v", h)
			}
			if c.want == 307 && h.Get("Location") != "http://"+w.tcp+c.path {
				t.Errorf("sent to %s", h.Get("Location"))
			}
			csp := h.Get("Content-Security-Policy")
			if c.want == 200 && (!strings.Contains(csp, "require-trusted-types-for 'script'; trusted-types 'none'") || !strings.Contains(csp, "script-src 'self';") ||
				strings.Contains(csp, "unsafe") || h.Get("Cross-Origin-Opener-Policy") != "same-origin" ||
				h.Get("Cross-Origin-Resource-Policy") != "same-origin" || h.Get("Cache-Control") != "no-cache" || h.Get("Referrer-Policy") != "no-referrer") {
				t.Errorf("got %v", h)
			}
		})
	}
}

// TestNoPage: where there is none, nothing is below its path.
func TestNoPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if res := w.remote(t, func(r *http.Request) { r.URL.Path = "/ui/" }); res.StatusCode != 404 {
		t.Errorf("got %d", res.StatusCode)
	}
	if status := w.newTab(t).enrol(t, "guess"); status != 401 {
		t.Errorf("enrolling: %d", status)
	}
}

// TestABrowserSurvivesTheDaemon: its key lets it in after a restart, its bearer does not.
func TestABrowserSurvivesTheDaemon(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "viewers.json")
	reopened := func(c *testConfig) {
		c.Browsers, _ = signin.Open(path, signin.Config{Logger: slog.New(slog.DiscardHandler)}) // read whole, or the test fails below
	}
	before := newWorld(t, shows(t, aPerson, reopened))
	b := before.browser(t, api.LinkRequest{})
	before.end()
	b.w = newWorld(t, shows(t, aPerson, reopened))
	if status := b.ask(t, "GET", "/v1/sessions", nil, nil); status != 401 {
		t.Errorf("the bearer: %d", status)
	}
	if status := b.signIn(t); status != 200 || b.ask(t, "GET", "/v1/sessions", nil, nil) != 200 {
		t.Errorf("the key: %d", status)
	}
}

// TestThePageApprovesWhatWasPlanned, and nothing else that an agent's request came to meanwhile.
func TestThePageApprovesWhatWasPlanned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shows(t, aPerson))
	b := w.browser(t, api.LinkRequest{})
	w.remember(t, "the client is called Oleander")
	w.settled(t)
	agent := client.DialTCP(w.tcp, testToken)
	defer agent.Close()
	asked, err := api.ForgetRoute.Call(t.Context(), agent, api.ForgetRequest{Query: "oleander"}, nil)
	if err != nil || asked.Request == nil {
		t.Fatalf("%+v, %v", asked, err)
	}
	plan, err := api.ForgetPlanRoute.Call(t.Context(), w.client, api.ForgetRequest{Request: asked.Request.Name}.Plan(), nil)
	if err != nil || plan.Records == 0 {
		t.Fatalf("%+v, %v", plan, err)
	}
	path := "/v1/forget/requests/" + asked.Request.Name + "/approve"
	n, wrong := plan.Records, plan.Records+1
	for name, c := range map[string]struct {
		q    api.ApproveRequest
		want string
	}{
		"nothing":        {api.ApproveRequest{}, "/records"},
		"no number":      {api.ApproveRequest{Through: plan.Position}, "/records"},
		"no position":    {api.ApproveRequest{Records: &n}, "/through"},
		"another number": {api.ApproveRequest{Through: plan.Position, Records: &wrong}, "nothing did"},
	} {
		if answer := b.work(t, path, c.q); !strings.Contains(answer, c.want) || w.count(t, events.KindMemoryForgotten) != 0 {
			t.Errorf("%s: %s", name, answer)
		}
	}
	if answer := b.work(t, path, nil); !strings.Contains(answer, "/records") {
		t.Errorf("without a body: %s", answer)
	}
	if answer := b.work(t, path, api.ApproveRequest{Through: plan.Position, Records: &n}); !strings.Contains(answer, fmt.Sprintf(`"records":%d`, n)) {
		t.Errorf("as planned: %s", answer)
	}
}

// TestThePageForgetsWhatWasPlanned, and nothing that came since: it gives back the plan's position and the number that a person typed.
func TestThePageForgetsWhatWasPlanned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shows(t, aPerson))
	b := w.browser(t, api.LinkRequest{})
	for range 2 {
		w.remember(t, "the client is called Oleander")
	}
	w.settled(t)
	plan, err := api.ForgetPlanRoute.Call(t.Context(), w.client, api.ForgetRequest{Query: "oleander"}.Plan(), nil)
	if err != nil || plan.Records == 0 {
		t.Fatalf("%+v, %v", plan, err)
	}
	w.remember(t, "Oleander has paid")
	w.settled(t)
	n, wrong := plan.Records, plan.Records+1
	for name, c := range map[string]struct {
		q    api.ForgetRequest
		want string
	}{
		"no number":      {api.ForgetRequest{Query: "oleander", Through: plan.Position}, "/records"},
		"no position":    {api.ForgetRequest{Query: "oleander", Records: &n}, "/through"},
		"another number": {api.ForgetRequest{Query: "oleander", Through: plan.Position, Records: &wrong}, "nothing did"},
	} {
		if answer := b.work(t, "/v1/forget", c.q); !strings.Contains(answer, c.want) || w.count(t, events.KindMemoryForgotten) != 0 {
			t.Errorf("%s: %s", name, answer)
		}
	}
	if answer := b.work(t, "/v1/forget", api.ForgetRequest{Query: "oleander", Through: plan.Position, Records: &n}); !strings.Contains(answer, fmt.Sprintf(`"records":%d`, n)) {
		t.Errorf("as planned: %s", answer)
	}
	w.settled(t)
	if found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "oleander"}); err != nil || found.Total != 1 {
		t.Errorf("%d are left, %v, want the one that came since", found.Total, err)
	}
}
