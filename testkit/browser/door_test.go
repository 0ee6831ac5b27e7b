package browser

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDoor: a link lets one browser in, once; nothing that the browser keeps opens the door from elsewhere; a second use of the link
// lets nobody in; a page of another origin gets nothing.
func TestDoor(t *testing.T) {
	w := newWorld(t)
	w.saves("no page may see", "a secret of the person's")
	link := w.link()
	code := link[strings.Index(link, "#c=")+3:]
	p := w.browser.MustOpen(t, link)
	w.shows(p, "no page may see")
	list, size := p.Requests()
	// Of what a browser that is let in already does not ask there is one, and the rest comes once the first data are there.
	if first := slices.DeleteFunc(slices.Clone(list), isLater); len(first) > 16 || size > 60_000 {
		t.Errorf("the first load takes %d requests and %d bytes: at most 16 and 60,000 may be\n%s", len(first), size, strings.Join(first, "\n"))
	}
	t.Logf("first load with enrolling, and all that follows: %d requests, %d bytes", len(list), size)
	for _, r := range list {
		if !strings.Contains(r, " http://"+w.addr+"/") || strings.Contains(r, code) {
			t.Errorf("the page asks for %s", r)
		}
	}
	var kept struct {
		URL, Local, Session, Cookie string
		Keys                        []struct{ Exportable bool }
	}
	must(t, p.Eval(t.Context(), `(async () => {
		const db = await new Promise((ok) => { const o = indexedDB.open("cmemd"); o.onsuccess = () => ok(o.result); });
		const all = await new Promise((ok) => { const g = db.transaction("keys").objectStore("keys").getAll(); g.onsuccess = () => ok(g.result); });
		return { URL: location.href, Local: JSON.stringify(localStorage), Session: JSON.stringify(sessionStorage), Cookie: document.cookie,
			Keys: all.map((v) => ({ Exportable: v.key.extractable })) };
	})()`, &kept))
	if strings.Contains(kept.URL, "#") || kept.Cookie != "" || kept.Session != "{}" || strings.Contains(kept.Local, "no page") || len(kept.Keys) != 1 || kept.Keys[0].Exportable {
		t.Errorf("the browser keeps %+v", kept)
	}
	// Another tab, and this one once more, come in by the key alone.
	second := w.browser.MustOpen(t, "http://"+w.addr+"/ui/memory")
	w.shows(second, "no page may see")
	w.quiet(second)
	w.quiet(p)

	w.foreign(t)

	// The link once more: nobody is let in by it, not the one that it let in before either.
	third := w.browser.MustOpen(t, "http://"+w.addr+"/ui/")
	w.shows(third, "no page may see")
	thief := w.browser.MustOpen(t, link)
	w.shows(thief, "is not let in")
	must(t, third.Go(t.Context(), "http://"+w.addr+"/ui/log"))
	w.shows(third, "is not let in")
}

// isLater reports whether a request is none of the first load of a browser that is let in.
func isLater(r string) bool {
	return strings.HasSuffix(r, "/v1/ui/viewers") || strings.HasSuffix(r, "/v1/projects") || strings.Contains(r, "/v1/events?")
}

// foreign has pages of other origins try to frame, open, load and ask the page, while a tab of ours is open, and opens it by a name that
// leads to this machine. The daemon refuses all but the tab that a link may open.
func (w *world) foreign(t *testing.T) {
	t.Helper()
	page := fmt.Sprintf(`<!doctype html><title>x</title><body><script>
const at = "http://%s", own = "%s", got = [];
const tries = [
  () => fetch(at + "/ui/").then((r) => r.text()),
  () => fetch(at + "/v1/status").then((r) => r.text()),
  () => fetch(at + "/v1/ui/viewers", { method: "POST", body: "{}" }).then((r) => r.text()),
  () => fetch(at + "/v1/ui/nonces", { method: "POST", mode: "no-cors", body: "{}" }).then((r) => r.text()),
  () => import(at + own + "app.js").then(() => "it ran"),
  () => new Promise((ok, no) => { const l = document.createElement("link"); l.rel = "stylesheet"; l.href = at + own + "style.css"; l.onload = () => ok("styled"); l.onerror = no; document.head.append(l); }),
  () => new Promise((ok, no) => { const i = new Image(); i.onload = () => ok("drawn"); i.onerror = no; i.src = at + own + "icon.svg"; }),
  () => new Promise((ok) => { const f = document.createElement("iframe"); f.src = at + "/ui/"; f.onload = () => { try { ok(f.contentDocument.body.innerText); } catch { ok(""); } }; document.body.append(f); }),
  () => new Promise((ok) => { const o = window.open(at + "/ui/"); setTimeout(() => { try { ok(o?.document.body.innerText); } catch { ok(""); } }, 800); }),
];
(async () => {
  for (const f of tries) await Promise.race([f(), new Promise((_, no) => setTimeout(no, 2000))]).then((x) => { if (x) got.push(String(x).slice(0, 60)); }, () => {});
  document.title = "done:" + got.join("|");
})();
</script>`, w.addr, w.files(t))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var headers []string
	srv := &http.Server{Handler: http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		headers = append(headers, r.Header.Get("Authorization")+r.Header.Get("Cookie"))
		out.Header().Set("Content-Type", "text/html")
		_, _ = out.Write([]byte(page))
	})}
	ended := make(chan struct{})
	go func() { _ = srv.Serve(l); close(ended) }()
	defer func() { _ = srv.Close(); <-ended }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, name := range []string{"127.0.0.1", "evil.example"} {
		p := w.browser.MustOpen(t, "http://"+name+":"+port+"/")
		w.sees(p, `document.title.startsWith("done:")`)
		var got string
		must(t, p.Eval(t.Context(), `document.title`, &got))
		if got != "done:" {
			t.Errorf("a page of %s gets %q", name, got)
		}
		var asked []Answer
		for _, a := range p.Answers() {
			if !strings.HasPrefix(a.URL, "http://"+w.addr+"/") {
				continue
			}
			asked = append(asked, a)
			if a.Status < 400 {
				t.Errorf("a page of %s asks for %s: %d", name, a.URL, a.Status)
			}
		}
		if len(asked) < 5 || asked[len(asked)-1].URL != "http://"+w.addr+"/ui/" { // its frame
			t.Errorf("a page of %s asked %d times: %v", name, len(asked), asked)
		}
	}
	_, port, _ = net.SplitHostPort(w.addr)
	p := w.browser.MustOpen(t, "http://evil.example:"+port+"/ui/")
	answers := p.Answers()
	if len(answers) == 0 || !strings.HasPrefix(answers[0].URL, "http://evil.example:") {
		t.Errorf("a foreign name for the daemon is answered %v", answers)
	}
	for _, a := range answers {
		if strings.HasPrefix(a.URL, "http://evil.example:") && a.Status < 300 {
			t.Errorf("a foreign name for the daemon is answered %v", a)
		}
	}
	for _, h := range headers {
		if h != "" {
			t.Errorf("another port of this machine is told %q", h)
		}
	}
}

// files is the path below which the page's own files are.
func (w *world) files(t *testing.T) string {
	t.Helper()
	res, err := http.Get("http://" + w.addr + "/ui/")
	must(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	must(t, err)
	path := regexp.MustCompile(`/ui/a/[^/"]+/`).FindString(string(text))
	if res.StatusCode != http.StatusOK || path == "" {
		t.Fatalf("the page is %d: %s", res.StatusCode, text)
	}
	return path
}

// TestReadOnly: a page of a link that only shows has no button that changes anything, and cannot either.
func TestReadOnly(t *testing.T) {
	w := newWorld(t)
	id := w.saves("a row", "that stays")
	p := w.browser.MustOpen(t, w.link("--read-only"))
	w.shows(p, "a row")
	w.to(p, "/ui/memory/"+id)
	for _, path := range []string{"/ui/memory?peek=" + id, "/ui/memory/" + id, "/ui/losses", "/ui/decide"} {
		w.to(p, path)
		var found []string
		must(t, p.Eval(t.Context(), `[...document.querySelectorAll("[data-key]")].map((b) => b.dataset.help)`, &found))
		for _, name := range found {
			if strings.Contains("correct forget undo save a memory approve refuse join", name) {
				t.Errorf("%s has a button %q", path, name)
			}
		}
	}
	w.quiet(p)
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/v1/memories", `{"text": "that a page that shows saves"}`}, {"POST", "/v1/memories/" + id + "/confirm", "{}"},
		{"POST", "/v1/memories/" + id + "/undo", "undefined"}, {"POST", "/v1/forget", `{"ids": ["` + id + `"]}`},
		{"POST", "/v1/forget/requests/f1/approve", "{}"}, {"POST", "/v1/projects/join", `{"folder": "/"}`}, {"DELETE", "/v1/ui/viewers", "undefined"},
	} {
		var status int
		must(t, p.Eval(t.Context(), fmt.Sprintf(`(async () => {
			const own = performance.getEntriesByType("resource").find((r) => r.name.endsWith("/net.js")).name;
			return (await import(own)).ask(%s, %s, %s).then(() => 200, (e) => e.status);
		})()`, js(c.method), js(c.path), c.body), &status))
		if status != http.StatusForbidden {
			t.Errorf("%s %s by its key: %d", c.method, c.path, status)
		}
	}
	w.to(p, "/ui/memory")
	w.shows(p, "a row")
}

// TestSignedOut: a daemon that lets no browser in any more says so on the page, which then shows nothing.
func TestSignedOut(t *testing.T) {
	w := newWorld(t)
	w.saves("a row", "that is shown")
	p := w.page("/ui/memory")
	w.shows(p, "a row")
	w.cmemd("token", "rotate")
	w.saves("another row", "that is not")
	w.shows(p, "is not let in")
	var html string
	must(t, p.Eval(t.Context(), `document.documentElement.outerHTML`, &html))
	if strings.Contains(html, "a row") {
		t.Error("what was shown stays on the page")
	}
}

// TestOldBrowsers: without WebCrypto the page says what is missing; without storage it works in its tab.
func TestOldBrowsers(t *testing.T) {
	w := newWorld(t)
	w.saves("a row", "that is shown")
	for _, c := range []struct{ name, break_, shows string }{
		{"no WebCrypto", `Object.defineProperty(globalThis.crypto, "subtle", { value: undefined })`, "WebCrypto"},
		{"no storage", `for (const k of ["indexedDB", "localStorage"]) Object.defineProperty(globalThis, k, { get() { throw new Error("denied"); } })`, "a row"},
	} {
		p := w.browser.MustOpen(t, "about:blank")
		must(t, p.Before(t.Context(), c.break_))
		must(t, p.Go(t.Context(), w.link()))
		w.shows(p, c.shows)
		w.quiet(p)
	}
}
