package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/api"
)

// TestAskAgain: what was lost stands by its reason, and is had back by the page alone, which says first what that takes.
func TestAskAgain(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script.jsonl")
	must(t, os.WriteFile(script, []byte(`{"text": "I am ready to help. What would you like me to do?", "usage": {"input": 900, "output": 12}}
{"text": "<summary><request>the checkout</request><completed>it is fixed</completed></summary>"}
{"text": "<observation><type>bugfix</type><title>the checkout counts again</title><narrative>It was off by one.</narrative></observation>", "repeat": "forever"}
`), 0o600))
	w := newWorld(t, "CMEMD_PROVIDER=playback", "CMEMD_PLAYBACK_FILE="+script, "CMEMD_SLOTS=1")
	w.works("one", "the checkout", 4)
	if s := w.settled(); s.Inputs.Dropped != 4 {
		t.Fatalf("the balance is %+v", s.Inputs)
	}
	p := w.page("/ui/")
	must(t, p.Eval(t.Context(), `[...document.querySelectorAll(".balance a")].find((a) => a.textContent.includes("dropped")).click()`, nil))
	w.shows(p, "nothing in it could be read")
	w.shows(p, "I am ready to help")
	w.picture(p, "losses")
	w.sees(p, `document.querySelector(".days a")?.title.endsWith(": 1 of 2 turns lost; 1 prose: nothing in it could be read")`)
	must(t, p.Eval(t.Context(), `document.querySelector(".days a").click()`, nil))
	w.sees(p, `document.querySelector(".chip")?.textContent.startsWith("since") && document.querySelectorAll("ol.rows li").length === 4`)
	w.to(p, "/ui/losses?until=2026-01-01T00:00:00Z")
	w.shows(p, "Nothing matches")
	w.to(p, "/ui/losses")
	w.press(p, "r")
	w.shows(p, "4 inputs of 1 session, in about 1 turn")
	w.picture(p, "again")
	must(t, p.Eval(t.Context(), `[...document.querySelectorAll("dialog button")].find((b) => b.textContent === "ask again").click()`, nil))
	w.shows(p, "4 observed")
	must(t, p.Eval(t.Context(), `[...document.querySelectorAll("dialog button")].find((b) => b.textContent === "close").click()`, nil))
	w.shows(p, "Nothing was dropped")
	w.to(p, "/ui/memory")
	w.shows(p, "the checkout counts again")
	w.quiet(p)
}

// TestDecide: what an agent asked to forget waits for the person, who refuses one request and erases another; a folder that claims to
// be another project is joined.
func TestDecide(t *testing.T) {
	w := newWorld(t)
	t.Chdir(w.dir) // an agent's command forgets what is of the project in whose folder it runs
	kept, gone := w.saves("that stays", "the person refuses"), w.saves("that goes", "the person approves")
	for _, id := range []string{kept, gone} {
		f, err := api.ForgetRoute.Call(t.Context(), w.client, api.ForgetRequest{IDs: []string{id}}, nil)
		must(t, err)
		if f.Request == nil {
			t.Fatalf("an agent's request is %+v", f)
		}
	}
	w.claims(t)
	p := w.page("/ui/decide")
	w.sees(p, `document.querySelectorAll(".cards > li").length === 3`)
	w.sees(p, `document.querySelector(".rail .n").textContent === "3"`)
	w.picture(p, "decide")
	must(t, p.Eval(t.Context(), `[...document.querySelectorAll(".cards > li")].find((l) => l.textContent.includes("that stays")).querySelector("[data-key=r]").click()`, nil))
	w.shows(p, "what was hidden is shown again")
	w.sees(p, `document.querySelectorAll(".cards > li").length === 2`)
	must(t, p.Eval(t.Context(), `document.querySelector("[data-key=a]").click()`, nil))
	w.sees(p, `document.querySelector("dialog input")`)
	must(t, p.Eval(t.Context(), `document.querySelector("dialog input").focus()`, nil))
	w.press(p, "1", "Enter")
	w.shows(p, "1 record erased")
	must(t, p.Eval(t.Context(), `[...document.querySelectorAll("dialog button")].find((b) => b.textContent === "close").click()`, nil))
	w.sees(p, `document.querySelectorAll(".cards > li").length === 1 && !document.querySelector("dialog")`)
	must(t, p.Eval(t.Context(), `document.querySelector(".cards button").click()`, nil))
	w.shows(p, "joined")
	w.sees(p, `document.querySelectorAll(".cards > li").length === 0`)
	w.to(p, "/ui/memory?q=that")
	w.shows(p, "that stays")
	var text string
	must(t, p.Eval(t.Context(), `document.body.innerText`, &text))
	if strings.Contains(text, "that goes") {
		t.Error("what was forgotten is shown")
	}
	w.quiet(p)
}

// TestDecideAll: what agents asked to forget is refused at once, once the person said yes, and erased at once, by the number of records of
// all. What an agent asks for meanwhile is not refused.
func TestDecideAll(t *testing.T) {
	w := newWorld(t)
	t.Chdir(w.dir)
	ask := func(ids ...string) {
		for _, id := range ids {
			_, err := api.ForgetRoute.Call(t.Context(), w.client, api.ForgetRequest{IDs: []string{id}}, nil)
			must(t, err)
		}
	}
	one, two := w.saves("first of two", "an agent asks"), w.saves("second of two", "an agent asks again")
	late := w.saves("asked for late", "while the person is asked")
	ask(one, two)
	p := w.page("/ui/decide")
	click := func(within, name string) {
		t.Helper()
		must(t, p.Eval(t.Context(), `[...document.querySelectorAll("`+within+` button")].find((b) => b.textContent === "`+name+`").click()`, nil))
	}
	waits := func(requests int) {
		t.Helper()
		w.sees(p, fmt.Sprintf(`document.querySelectorAll(".cards > li").length === %d`, requests))
	}
	waits(2)
	click("section", "refuse all…")
	w.shows(p, "Refuse 2 requests")
	w.picture(p, "refuse")
	ask(late)
	waits(3)
	click("dialog", "refuse")
	w.shows(p, "what was hidden is shown again")
	waits(1)
	w.shows(p, "asked for late")
	w.sees(p, `!document.querySelector("dialog")`)
	ask(one)
	waits(2)
	click("section", "erase all…")
	w.sees(p, `document.querySelector("dialog input")`)
	must(t, p.Eval(t.Context(), `document.querySelector("dialog input").focus()`, nil))
	w.press(p, "2", "Enter")
	w.shows(p, "2 records erased")
	w.to(p, "/ui/memory?q=two")
	w.shows(p, "second of two")
	w.sees(p, `!document.body.innerText.includes("first of two")`)
	w.quiet(p)
}

// claims has an agent work in two repositories that name the same remote: the second is kept apart.
func (w *world) claims(t *testing.T) {
	t.Helper()
	for _, name := range []string{"real", "copy"} {
		dir := filepath.Join(filepath.Dir(w.dir), name)
		for _, args := range [][]string{{"init", "-q", dir}, {"-C", dir, "remote", "add", "origin", "https://git.example/team/app.git"}} {
			c := exec.Command("git", args...)
			c.Env = w.environ()
			if out, err := c.CombinedOutput(); err != nil {
				t.Skipf("git: %v\n%s", err, out)
			}
		}
		w.hook(map[string]any{"hook_event_name": "SessionStart", "session_id": name, "source": "startup", "cwd": dir})
		w.hook(map[string]any{"hook_event_name": "UserPromptSubmit", "session_id": name, "prompt": "work in " + name, "cwd": dir})
	}
	w.settled()
}

// TestReplayIsReplay: the page says of each policy what the command says, with the verdict first, and each decision that differs.
func TestReplayIsReplay(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script.jsonl")
	must(t, os.WriteFile(script, []byte(`{"text": "I am ready to help.", "usage": {"input": 900, "output": 12}, "repeat": 6}
{"text": "<observation><type>bugfix</type><title>the checkout counts again</title></observation>", "usage": {"input": 800, "output": 20}, "repeat": "forever"}
`), 0o600))
	w := newWorld(t, "CMEMD_PROVIDER=playback", "CMEMD_PLAYBACK_FILE="+script, "CMEMD_SLOTS=1")
	for _, session := range []string{"one", "two", "three", "four", "five"} {
		w.works(session, "the checkout", 3)
	}
	w.settled()
	p := w.page("/ui/replay?days=0")
	for query, args := range map[string][]string{
		"days=0": nil, "days=1": {"--since", "1d"}, "days=7": {"--since", "7d"}, "days=30": {"--since", "30d"}, "days=0&session=one": {"--session", "one"},
		"days=0&session=two": {"--session", "two"}, "days=0&session=three": {"--session", "three"}, "days=0&session=four": {"--session", "four"},
		"days=0&session=five": {"--session", "five"}, "days=7&session=one": {"--session", "one", "--since", "7d"},
	} {
		w.replaysTheSame(p, query, args)
	}
	w.to(p, "/ui/replay?days=0")
	w.sees(p, `document.querySelectorAll(".strip rect").length > 5`)
	must(t, p.Show(t.Context(), Screen{Width: 1280, Height: 1100}))
	w.picture(p, "replay")
	w.quiet(p)
	w.to(p, "/ui/replay?session=00000000-0000-4000-8000-000000000000")
	w.sees(p, `document.querySelector("[role=alert], .nothing")`)
}

// replaysTheSame fails the test where p says of a stretch what the command does not.
func (w *world) replaysTheSame(p *Page, query string, args []string) {
	w.tb.Helper()
	var said struct {
		Live     string
		Policies map[string]struct {
			Lost   int   `json:"lost_batches"`
			Wasted int64 `json:"wasted_tokens"`
		}
	}
	must(w.tb, json.Unmarshal([]byte(w.cmemd(append([]string{"replay", "--policy", "all", "--json"}, args...)...)), &said))
	w.to(p, "/ui/replay?"+query)
	w.sees(p, `document.querySelector(".verdict")`)
	var shown []struct {
		Names        []string
		Live         string
		Lost, Wasted int64
	}
	must(w.tb, p.Eval(w.tb.Context(), `[...document.querySelectorAll("tbody tr")].map((r) => {
		const n = [...r.querySelectorAll("td.num")].map((c) => parseInt(c.textContent.replaceAll(",", "")));
		return { Names: [...r.querySelectorAll("a > span:not(.live)")].map((s) => s.textContent), Live: r.querySelector(".live")?.previousElementSibling.textContent ?? "", Lost: n[0], Wasted: n[1] };
	})`, &shown))
	seen := 0
	for _, row := range shown {
		for _, name := range row.Names {
			seen++
			want := said.Policies[name]
			if row.Lost != int64(want.Lost) || row.Wasted != want.Wasted || (row.Live == said.Live) != slices.Contains(row.Names, said.Live) {
				w.tb.Errorf("%s: %s: the page says %+v, the command %+v", query, name, row, want)
			}
		}
	}
	if seen != len(said.Policies) || seen != 9 {
		w.tb.Errorf("%s: the page has %d policies, the command %d", query, seen, len(said.Policies))
	}
}

// TestForgetWords: what says a client's name is forgotten from the search that found nothing of it, and is gone from a tab that shows it.
func TestForgetWords(t *testing.T) {
	w := newWorld(t)
	id := w.saves("a client", "the client is called Quagga Ltd")
	open, p := w.page("/ui/memory/"+id), w.page("/ui/memory?q=Quagga")
	w.shows(open, "Quagga")
	must(t, p.Eval(t.Context(), `[...document.querySelectorAll(".head button")].find((b) => b.textContent === "forget all…").click()`, nil))
	w.sees(p, `document.querySelector("dialog input")`)
	must(t, p.Eval(t.Context(), `document.querySelector("dialog input").focus()`, nil))
	w.press(p, "1", "Enter")
	w.shows(p, "1 record erased")
	w.sees(p, `document.querySelector("dialog a[href^='/ui/log?at=']")`)
	w.sees(open, `!document.documentElement.outerHTML.includes("Quagga")`)
	w.quiet(p)
}

// TestLinkInAnOpenPage: a link that only shows takes nothing from a browser that may edit, nor does one that is worth nothing.
func TestLinkInAnOpenPage(t *testing.T) {
	w := newWorld(t)
	w.saves("a row", "that may be changed")
	p := w.page("/ui/memory")
	for fragment, says := range map[string]string{strings.SplitAfter(w.link("--read-only"), "#")[1]: "still may", "c=bogus": "opens nothing"} {
		must(t, p.Eval(t.Context(), `location.hash = `+js(fragment), nil))
		w.shows(p, says)
		w.sees(p, `!location.hash && document.querySelector("[data-help='save a memory']")`)
		w.to(p, "/ui/memory")
		w.sees(p, `document.querySelector("[data-help='save a memory']")`)
	}
}

// axe is the text of axe-core, which finds what keeps people out, or "" where it is not installed beside the programs on PATH.
func axe() string {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if b, err := os.ReadFile(filepath.Join(dir, "..", "axe-core", "axe.min.js")); err == nil {
			return string(b)
		}
	}
	return ""
}

// TestAxe: axe-core finds nothing serious on any page, light or dark, nor in a dialog.
func TestAxe(t *testing.T) {
	w := newWorld(t)
	script := axe()
	if script == "" {
		t.Skip("axe-core is not installed")
	}
	id := w.saves("a row", "that is shown")
	w.works("one", "the queue", 4)
	w.settled()
	p := w.page("/ui/")
	looks := func(where string) {
		t.Helper()
		var found []string
		must(t, p.Eval(t.Context(), script+`; axe.run({ resultTypes: ["violations"] }).then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact))
			.map((v) => v.id + ": " + v.nodes.map((n) => n.target.join(" ")).slice(0, 4).join(", ")))`, &found))
		if len(found) > 0 {
			t.Errorf("%s: %q", where, found)
		}
	}
	for _, dark := range []bool{false, true} {
		must(t, p.Show(t.Context(), Screen{Width: 1280, Height: 800, Dark: dark}))
		for _, path := range everyPage(id) {
			w.to(p, path)
			looks(path)
		}
	}
	w.to(p, "/ui/memory")
	w.press(p, "n")
	w.sees(p, `document.querySelector("dialog[open]")`)
	looks("the dialog that saves")
}
