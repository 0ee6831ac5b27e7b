package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/testkit/wait"
)

// asksLittle fails the test where p asks more than a few times within a second and a half: it is to wait between its tries.
func (w *world) asksLittle(p *Page) {
	w.tb.Helper()
	p.Requests()
	time.Sleep(1500 * time.Millisecond)
	if list, _ := p.Requests(); len(list) > 12 {
		w.tb.Errorf("the page asks %d times in 1.5 s: %q", len(list), list[:12])
	}
}

// lastShown is the position of the last record that the log's page shows.
const lastShown = `Number([...document.querySelectorAll(".record")].at(-1)?.dataset.position)`

// TestLogReplaced: under open pages a log shrinks to a copy made earlier, then another one takes its place. The pages show that one and
// nothing of what is gone, follow it on, and ask with pauses while no daemon is there.
func TestLogReplaced(t *testing.T) {
	w := newWorld(t)
	w.works("one", "the first session", 3)
	first := w.settled().Position
	w.kill()
	path, copied := filepath.Join(w.home, "log.db"), filepath.Join(t.TempDir(), "log.db")
	must(t, durable.SwapCopy(path, copied, 0o600))
	w.start()
	w.works("two", "the second session", 40)
	w.saves("of the second session", "a copy of the log knows nothing of it")
	last := w.settled().Position
	log, rows := w.page("/ui/log"), w.page("/ui/memory")
	w.sees(log, fmt.Sprintf(lastShown+` >= %d`, last))
	w.shows(rows, "of the second session")

	w.kill()
	w.asksLittle(log)
	must(t, durable.SwapCopy(copied, path, 0o600))
	w.start()
	w.sees(log, fmt.Sprintf(lastShown+` >= %d && `+lastShown+` < %d`, first, last))
	w.sees(rows, `!document.documentElement.outerHTML.includes("of the second session")`)
	w.asksLittle(log)
	w.works("three", "the third session", 2)
	w.sees(log, fmt.Sprintf(lastShown+` >= %d && !document.querySelector(".record .wait")`, w.settled().Position))

	w.kill()
	must(t, os.Remove(path))
	w.cmemd("log", "begin-anew", "--yes")
	w.start()
	w.works("another", "in another log", 60) // more than the page has seen: its length alone does not tell
	w.sees(log, fmt.Sprintf(lastShown+` >= %d && !document.querySelector(".record .wait")`, w.settled().Position))
	w.shows(rows, "in another log")
	for _, p := range []*Page{log, rows} {
		if strings.Contains(w.html(p), "first session") {
			t.Error("a row of a log that is gone is shown")
		}
	}
	var shown, held string
	must(t, log.Eval(t.Context(), `[...document.querySelectorAll(".record .stream")].map((s) => s.textContent).join()`, &shown))
	must(t, log.Eval(t.Context(), `(async () => {
		const { ask } = await import(document.querySelector("script[src]").src.replace("app.js", "net.js"));
		const from = Number(document.querySelector(".record").dataset.position), n = document.querySelectorAll(".record").length;
		return (await ask("GET", "/v1/log/records?limit=" + n + "&from=" + from)).records.map((r) => r.stream + " " + r.version).join();
	})()`, &held))
	if shown != held {
		t.Errorf("the page shows the records %s, the log has %s", shown, held)
	}
}

// TestClockJumps: where the browser's clock is set, forth and back, the page goes on following, searching and reading the log, and is
// not let in anew each time; what hooks report from another time is shown where it was recorded.
func TestClockJumps(t *testing.T) {
	w := newWorld(t)
	w.works("one", "before the jump", 3)
	w.settled()
	p := w.page("/ui/log")
	w.sees(p, lastShown+` > 0`)
	for _, hours := range []int{30, -700} {
		must(t, p.Eval(t.Context(), fmt.Sprintf(`(() => {
			const real = window.RealDate ??= Date, off = %d * 3600e3;
			window.Date = class extends real { constructor(...a) { a.length ? super(...a) : super(real.now() + off); } static now() { return real.now() + off; } };
		})()`, hours), nil))
		p.Requests()
		name := fmt.Sprintf("jump%d", hours)
		payload := fmt.Sprintf(`{"hook_event_name":"UserPromptSubmit","session_id":%q,"prompt":"said %s","cwd":%q}`, name, name, w.dir)
		_, err := w.client.Hook(t.Context(), "claude-code", []byte(payload), uuid.Must(uuid.NewV7()), time.Now().Add(time.Duration(hours)*time.Hour))
		must(t, err)
		w.works(name, "after the jump", 30)
		w.sees(p, fmt.Sprintf(lastShown+` >= %d && !document.querySelector(".record .wait")`, w.settled().Position))
		must(t, p.Eval(t.Context(), `document.querySelector("nav a[href='/ui/']").click()`, nil))
		w.shows(p, "after the jump")
		must(t, p.Eval(t.Context(), `document.activeElement.blur()`, nil))
		w.press(p, "/")
		must(t, p.Type(t.Context(), "jump"))
		w.sees(p, `location.search.includes("q=jump") && document.querySelectorAll("[data-row]").length > 0`)
		must(t, p.Eval(t.Context(), `document.querySelector("nav a[href='/ui/log']").click()`, nil))
		w.sees(p, lastShown+` > 0 && !document.querySelector(".record .wait")`)
		list, _ := p.Requests()
		if said := strings.Join(list, "\n"); strings.Contains(said, "/v1/ui/") {
			t.Errorf("after a jump by %d hours the page is let in anew:\n%s", hours, said)
		}
	}
	w.quiet(p)
}

// middle stands between the browser and the daemon, and cuts the answers to paths that begin so after some bytes of them.
type middle struct {
	cut   atomic.Pointer[string]
	bytes atomic.Int64
}

// stands starts m before w's daemon, and has the browser reach it instead.
func (m *middle) stands(t *testing.T, w *world) {
	t.Helper()
	m.cut.Store(new(string))
	to := &url.URL{Scheme: "http", Host: w.addr}
	proxy := &httputil.ReverseProxy{
		Transport: &http.Transport{DisableKeepAlives: true}, FlushInterval: -1, // a page that leaves ends no other request's connection
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			if r.In.Header.Get("Origin") != "" {
				r.Out.Header.Set("Origin", to.String())
			}
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	srv := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		must(t, http.NewResponseController(out).EnableFullDuplex()) // else an answer that begins closes the body before it is passed on whole
		if begins := *m.cut.Load(); begins != "" && strings.HasPrefix(r.URL.Path, begins) {
			out = &cutWriter{ResponseWriter: out, left: int(m.bytes.Load())}
		}
		proxy.ServeHTTP(out, r)
	}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	w.addr = strings.TrimPrefix(srv.URL, "http://")
}

// cuts has answers to paths that begin so end after some bytes; an empty path: none.
func (m *middle) cuts(path string, bytes int64) {
	m.bytes.Store(bytes)
	m.cut.Store(&path)
}

// cutWriter ends a connection after some bytes of the answer, as the kill of a daemon does.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (c *cutWriter) Write(b []byte) (int, error) {
	if c.left -= len(b); c.left < 0 {
		_, _ = c.ResponseWriter.Write(b[:len(b)+c.left])
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		time.Sleep(100 * time.Millisecond) // a browser drops what it has not read when a connection breaks: none of it would be seen
		panic(http.ErrAbortHandler)
	}
	return c.ResponseWriter.Write(b)
}

func (c *cutWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// TestStopsMidAnswer: an answer that ends in its middle is never taken for a whole one: each page says so in words and goes on when it
// is asked again, the stream goes on without a gap, and who was about to erase is told to look before they try again.
func TestStopsMidAnswer(t *testing.T) {
	w := newWorld(t)
	for i := range 8 {
		w.saves(fmt.Sprintf("kept %d", i), strings.Repeat("a text that is long enough to be cut. ", 20))
	}
	w.works("one", "the queue", 3)
	w.settled()
	link := w.link()
	var m middle
	own := w.addr
	m.stands(t, w)
	p := w.browser.MustOpen(t, strings.Replace(link, own, w.addr, 1))
	w.shows(p, "kept 7")
	for path, view := range map[string]string{
		"/v1/rows": "/ui/memory", "/v1/search": "/ui/memory?q=kept", "/v1/outcomes": "/ui/losses", "/v1/log/stats": "/ui/log", "/v1/forget/requests": "/ui/decide",
		"/v1/status": "/ui/", "/v1/replay": "/ui/replay",
	} {
		m.cuts(path, 10)
		must(t, p.Go(t.Context(), "http://"+w.addr+view))
		w.shows(p, "The answer ended early")
		m.cuts("", 0)
		must(t, p.Eval(t.Context(), `[...document.querySelectorAll("[role=alert] button")].find((b) => b.textContent === "Try again").click()`, nil))
		w.sees(p, `document.querySelector("main h1") && !document.querySelector("[role=alert]") && !document.querySelector("main .skeleton")`)
	}
	w.to(p, "/ui/memory")
	must(t, p.Eval(t.Context(), `(async () => {
		const { live } = await import(document.querySelector("script[src]").src.replace("app.js", "net.js"));
		Object.assign(window, { live, seen: [] });
		live.listen((slice) => window.seen.push(...(slice ? slice.map((r) => r.position) : ["passed"])));
	})()`, nil))
	w.sees(p, `live.state === "live"`)
	m.cuts("/v1/events", 3000)
	must(t, p.Eval(t.Context(), `live.stop.abort()`, nil)) // the stream that stands is not cut; those after it are
	for i := range 3 {
		w.works(fmt.Sprintf("cut%d", i), "while streams are cut", 10)
		w.sees(p, fmt.Sprintf(`seen.length >= %d`, 5*(i+1)))
	}
	m.cuts("", 0)
	w.sees(p, fmt.Sprintf(`seen.at(-1) >= %d && live.state === "live"`, w.settled().Position))
	var gaps []any
	must(t, p.Eval(t.Context(), `seen.filter((x, i) => i > 0 && x !== seen[i - 1] + 1)`, &gaps))
	if len(gaps) > 0 {
		t.Errorf("over streams that were cut records were missed, or came twice, before %v", gaps)
	}
	w.to(p, "/ui/memory?q=kept")
	must(t, p.Eval(t.Context(), `[...document.querySelectorAll(".head button")].find((b) => b.textContent === "forget all…").click()`, nil))
	w.sees(p, `document.querySelector("dialog input")`)
	m.cuts("/v1/forget", 0)
	must(t, p.Eval(t.Context(), `document.querySelector("dialog input").focus()`, nil))
	w.press(p, "8", "Enter")
	w.shows(p, "look again before you try again")
	m.cuts("", 0)
	wait.Until(t, "all of it is erased", func() bool {
		found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "kept"})
		return err == nil && found.Total == 0
	})
	must(t, p.Eval(t.Context(), `[...document.querySelectorAll("dialog [role=alert] button")].at(-1).click()`, nil))
	w.shows(p, "There is nothing of it") // it went: the answer alone was lost
}

// TestTwoTabsForget: of two tabs that look at the same plan one erases, the other is told that it is another one by now; both at once
// erase it once; and an open tab of a row that went shows nothing of it.
func TestTwoTabsForget(t *testing.T) {
	w := newWorld(t)
	for _, at := range []string{"one after the other", "at once"} {
		for i := range 3 {
			w.saves(fmt.Sprintf("quagga %d", i), "of a client whose name goes: "+at)
		}
		tabs := []*Page{w.page("/ui/memory?q=quagga"), w.page("/ui/memory?q=quagga")}
		for _, p := range tabs {
			must(t, p.Eval(t.Context(), `[...document.querySelectorAll(".head button")].find((b) => b.textContent === "forget all…").click()`, nil))
			w.sees(p, `document.querySelector("dialog input")`)
			must(t, p.Eval(t.Context(), `document.querySelector("dialog input").focus()`, nil))
			w.press(p, "3")
			w.sees(p, `!document.querySelector("dialog form button").disabled`)
		}
		if at == "at once" {
			both := make(chan error, 2)
			for _, p := range tabs {
				go func() { both <- p.Key(context.WithoutCancel(t.Context()), "Enter") }()
			}
			must(t, <-both)
			must(t, <-both)
		} else {
			w.press(tabs[0], "Enter")
			w.shows(tabs[0], "3 records erased")
			w.press(tabs[1], "Enter")
		}
		told := 0
		for _, p := range tabs {
			w.sees(p, `/plan was another|records erased\.|erased meanwhile/.test(document.querySelector("dialog").innerText)`)
			var erased bool
			must(t, p.Eval(t.Context(), `document.querySelector("dialog").innerText.includes("3 records erased.")`, &erased))
			if erased {
				told++
				continue
			}
			must(t, p.Eval(t.Context(), `[...document.querySelectorAll("dialog [role=alert] button")].at(-1)?.click()`, nil))
			w.shows(p, "There is nothing of it")
		}
		if told != 1 {
			t.Errorf("%s: %d tabs have a receipt", at, told)
		}
		for _, p := range tabs {
			must(t, p.Eval(t.Context(), `document.querySelector("dialog .close").click()`, nil))
			w.shows(p, "Nothing matches")
			if strings.Contains(w.html(p), "whose name goes") {
				t.Errorf("%s: what was forgotten is on a page", at)
			}
		}
	}
	if said := w.cmemd("log", "verify"); strings.Contains(said, "damaged") {
		t.Errorf("the log is %s", said)
	}
}

// html is all that p holds.
func (w *world) html(p *Page) (html string) {
	w.tb.Helper()
	must(w.tb, p.Eval(w.tb.Context(), `document.documentElement.outerHTML`, &html))
	return html
}

// TestBeforeTheStream: what is recorded between a page's first data and the beginning of its stream is not missed.
func TestBeforeTheStream(t *testing.T) {
	w := newWorld(t)
	w.saves("there before", "the page was opened")
	p := w.browser.MustOpen(t, "about:blank")
	must(t, p.Before(t.Context(), `(() => {
		const real = window.fetch;
		window.fetch = async (path, o) => {
			if (String(path).startsWith("/v1/events")) await new Promise((ok) => { window.begin = ok; });
			return real(path, o);
		};
	})()`))
	must(t, p.Go(t.Context(), w.link()))
	w.shows(p, "there before")
	w.sees(p, `window.begin`)
	w.saves("came meanwhile", "nobody followed the log then")
	must(t, p.Eval(t.Context(), `begin()`, nil))
	w.shows(p, "came meanwhile")
}

// TestReplacedBeforeTheStream: a log that takes another one's place between a page's first data and the beginning of its stream is shown,
// and nothing of the one that is gone; whether the stream begins late, or its first tries fail.
func TestReplacedBeforeTheStream(t *testing.T) {
	for name, holds := range map[string]string{
		"begins late":    `if (!window.begun) await new Promise((ok) => { window.begin = () => { window.begun = true; ok(); }; })`,
		"fails at first": `if (!window.begun) { window.begin = () => { window.begun = true; }; throw new Error("no answer"); }`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.works("one", "the first session", 3)
			w.settled()
			w.kill()
			path, copied := filepath.Join(w.home, "log.db"), filepath.Join(t.TempDir(), "log.db")
			must(t, durable.SwapCopy(path, copied, 0o600))
			w.start()
			w.saves("of the log that goes", "a copy made before knows nothing of it")
			w.settled()
			p := w.browser.MustOpen(t, "about:blank")
			must(t, p.Before(t.Context(), `(() => {
				const real = window.fetch;
				window.fetch = async (path, o) => {
					if (String(path).startsWith("/v1/events")) { `+holds+` }
					return real(path, o);
				};
			})()`))
			must(t, p.Go(t.Context(), w.link()))
			w.shows(p, "of the log that goes")
			must(t, p.Eval(t.Context(), `document.querySelector("nav a[href='/ui/memory']").click()`, nil))
			w.sees(p, `window.begin && document.querySelector(".rows")?.innerText.includes("of the log that goes")`)
			w.kill()
			must(t, durable.SwapCopy(copied, path, 0o600))
			w.start()
			must(t, p.Eval(t.Context(), `begin()`, nil))
			w.sees(p, `!document.documentElement.outerHTML.includes("of the log that goes")`)
			w.shows(p, "the first session")
		})
	}
}

// TestAnHourIsOver: a stream that ends because its hour is over is followed on without a word of it; what a tab holds that is worth
// nothing any more is replaced.
func TestAnHourIsOver(t *testing.T) {
	w := newWorld(t)
	w.works("one", "the queue", 3)
	w.settled()
	p := w.browser.MustOpen(t, "about:blank")
	// Streams end when the test says so, as the daemon ends them: whole.
	must(t, p.Before(t.Context(), `(() => {
		const real = window.fetch;
		window.fetch = async (path, o) => {
			const r = await real(path, o);
			if (!r.ok || !String(path).startsWith("/v1/events")) return r;
			const from = r.body.getReader();
			return new Response(new ReadableStream({
				async pull(c) { const { value, done } = await from.read(); if (done) c.close(); else c.enqueue(value); },
				start(c) { window.over = () => { from.cancel(); c.close(); }; },
			}));
		};
	})()`))
	must(t, p.Go(t.Context(), w.link()))
	w.sees(p, `document.querySelector("main h1") && !location.hash`)
	must(t, p.Eval(t.Context(), `(async () => {
		const { live, door } = await import(document.querySelector("script[src]").src.replace("app.js", "net.js"));
		Object.assign(window, { live, door, states: [] });
		live.watched.add(() => states.push(live.state));
	})()`, nil))
	w.sees(p, `live.state === "live"`)
	must(t, p.Eval(t.Context(), `(() => { const now = performance.now.bind(performance); performance.now = () => now() + 3600e3; states.length = 0; door.bearer = "of an hour ago"; over(); })()`, nil))
	w.works("two", "after an hour", 3)
	w.shows(p, "after an hour")
	w.sees(p, fmt.Sprintf(`live.position >= %d`, w.settled().Position))
	var states []string
	must(t, p.Eval(t.Context(), `states`, &states))
	if strings.Contains(strings.Join(states, " "), "off") {
		t.Errorf("the page says %q", states)
	}
}
