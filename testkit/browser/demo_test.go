package browser

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/internal/api"
)

var update = flag.Bool("update", false, "write the README's pictures, and what they show, anew")

// demo has an agent work in w as in the recorded session of `cmemd demo`.
func (w *world) demo(t *testing.T) {
	t.Helper()
	git := func(args ...string) string {
		c := exec.Command("git", append([]string{"-c", "user.name=demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false"}, args...)...)
		c.Dir, c.Env = w.dir, w.environ()
		out, err := c.Output()
		if err != nil {
			t.Skipf("git %s: %v", args[0], err)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	var commits []string
	for _, subject := range []string{"queue: give up a delivery that the receiver refuses", "config: limit the attempts of a delivery"} {
		git("commit", "-q", "--allow-empty", "-m", subject)
		commits = append(commits, git("rev-parse", "--short", "HEAD"))
	}
	raw, err := os.ReadFile("../../cmd/cmemd/internal/scenarios/demo/session.jsonl")
	must(t, err)
	set := strings.NewReplacer("{{SESSION}}", "00000000-0000-4000-8000-00000000d001", "{{CWD}}", w.dir, "{{HOME}}", filepath.Dir(w.dir),
		"{{COMMIT1}}", commits[0], "{{COMMIT2}}", commits[1])
	path, err := program()
	must(t, err)
	for line := range strings.Lines(set.Replace(string(raw))) {
		c := exec.Command(path, "hook", "claude-code")
		c.Env, c.Dir, c.Stdin = w.environ(), w.dir, strings.NewReader(line)
		must(t, c.Run())
	}
	w.settled()
	w.hook(map[string]any{"hook_event_name": "SessionStart", "session_id": "00000000-0000-4000-8000-00000000d002", "source": "startup"})
}

// changing is what differs from one run to the next, with words that hold a path below dir.
func changing(dir string) *regexp.Regexp {
	return regexp.MustCompile(`\b(\d\d-\d\d )?\d\d:\d\d(:\d\d)?\b|\b[0-9a-f]{7,40}\b|process \d+|log at \d+|\S*` + regexp.QuoteMeta(dir) + `\S*`)
}

// cut is a line of which something is left out: where, depends on the length of the folder's name before it.
var cut = regexp.MustCompile(`(?m)^(.{12}).*…`)

// TestPictures: the README's pictures show what the page shows of the demo's session. Where that changes, -update makes them anew.
func TestPictures(t *testing.T) {
	w := newWorld(t)
	w.demo(t)
	w.settled()
	p := w.page("/ui/")
	found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "why was a refused delivery retried", Kind: "observation", Limit: 1})
	must(t, err)
	if len(found.Results) == 0 {
		t.Fatal("the demo's session left nothing to find")
	}
	var shown strings.Builder
	for name, path := range map[string]string{"light": "/ui/memory/" + found.Results[0].Handle.String(), "dark": "/ui/memory/" + found.Results[0].Handle.String()} {
		must(t, p.Show(t.Context(), Screen{Width: 1120, Height: 700, Dark: name == "dark"}))
		w.to(p, path)
		w.shows(p, "Since then")
		var text string
		must(t, p.Eval(t.Context(), `document.querySelector("main").innerText`, &text))
		if name == "light" {
			shown.WriteString(cut.ReplaceAllString(changing(filepath.Dir(w.dir)).ReplaceAllString(text, "·"), "$1…") + "\n")
		}
		if *update {
			must(t, p.Picture(t.Context(), filepath.Join("..", "..", "docs", "page-"+name+".png")))
		}
	}
	golden := filepath.Join("testdata", "page.txt")
	if *update {
		must(t, os.WriteFile(golden, []byte(shown.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if diff := cmp.Diff(string(want), shown.String()); diff != "" {
		t.Errorf("-want +got; if it is meant: go test ./testkit/browser -browser -update, and look at the pictures in docs\n%s", diff)
	}
	w.quiet(p)
}
