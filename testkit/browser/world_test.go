package browser

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/testkit/programs"
	"github.com/cmemd/cmemd/testkit/socket"
)

var (
	wanted   = flag.Bool("browser", false, "open the page of a real daemon in a real Chromium")
	binary   = flag.String("cmemd", "", "a program that is built already; empty: this module's, built anew")
	figures  = flag.Bool("figures", false, "measure the page over 100,000 memories and 1,000,000 records; takes minutes")
	pictures = flag.String("pictures", "", "a folder that gets a picture of each page in each of its states")
)

// tried is the program that the suite tries, with a person beside it.
var tried = programs.Set{Packages: []string{"cmd/cmemd"}}

func TestMain(m *testing.M) { os.Exit(tried.Main(m)) }

// program is cmemd: the given one, or one that is built once.
func program() (string, error) {
	if *binary != "" {
		return *binary, nil
	}
	err := tried.Build()
	return tried.Path("cmemd"), err
}

// world is a daemon of its own, and a browser that is let in.
type world struct {
	tb      testing.TB
	home    string
	dir     string // of the project that its agent works in
	addr    string
	cmd     *exec.Cmd
	said    *bytes.Buffer
	client  *client.Client
	browser *Browser
	set     []string // variables

	patience time.Duration // with what has to happen
}

// newWorld starts a daemon and a browser; both end with the test.
func newWorld(t *testing.T, settings ...string) *world {
	t.Helper()
	w := newHome(t, settings...)
	w.start()
	return w
}

// newHome is a world whose daemon has not been started.
func newHome(t *testing.T, settings ...string) *world {
	t.Helper()
	if !*wanted {
		t.Skip("the page is tried in a browser with -browser")
	}
	b := MustStart(t)
	dir := socket.Dir(t)
	w := &world{tb: t, home: filepath.Join(dir, "home"), dir: filepath.Join(dir, "shop"), browser: b, set: settings, addr: socket.FreeAddress(t), patience: 30 * time.Second}
	must(t, os.MkdirAll(w.dir, 0o700))
	must(t, os.MkdirAll(w.home, 0o700))
	w.client = client.Dial(w.home)
	t.Cleanup(func() {
		w.client.Close()
		if w.cmd != nil {
			w.kill()
		}
	})
	return w
}

func (w *world) environ() []string {
	kept := []string{"CMEMD_HOME=" + w.home, "CMEMD_LISTEN=" + w.addr, "CMEMD_NO_START=1", "GIT_CONFIG_GLOBAL=" + os.DevNull}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CMEMD_") && !strings.HasPrefix(v, "GIT_") {
			kept = append(kept, v)
		}
	}
	return append(kept, w.set...)
}

// start starts the daemon, and returns when it is ready.
func (w *world) start() {
	w.tb.Helper()
	path, err := program()
	must(w.tb, err)
	w.said = &bytes.Buffer{}
	w.cmd = exec.Command(path, "serve")
	w.cmd.Env, w.cmd.Stderr = w.environ(), w.said
	must(w.tb, w.cmd.Start())
	w.until("the daemon to be ready", func() bool {
		r, err := api.ReadyRoute.Call(w.tb.Context(), w.client, api.ReadyQuery{Always: true})
		return err == nil && r.Ready
	})
}

// kill ends the daemon as the loss of power does.
func (w *world) kill() {
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
}

// cmemd runs a command as a person does, and returns what it printed.
func (w *world) cmemd(args ...string) string {
	w.tb.Helper()
	path, err := program()
	must(w.tb, err)
	self, err := os.Executable()
	must(w.tb, err)
	c := exec.Command(self)
	c.Args = append([]string{"person", path}, args...)
	c.Env, c.Dir = w.environ(), w.dir
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		w.tb.Fatalf("cmemd %s: %v\n%s%s", strings.Join(args, " "), err, out, said.String())
	}
	return string(out)
}

// link is one by which a browser is let in.
func (w *world) link(args ...string) string {
	w.tb.Helper()
	return strings.TrimSpace(w.cmemd(append([]string{"ui", "--print"}, args...)...))
}

// page opens a path of the page in a browser that is let in.
func (w *world) page(path string) *Page {
	w.tb.Helper()
	p := w.browser.MustOpen(w.tb, w.link())
	w.sees(p, `document.querySelector("main h1") && !location.hash`)
	w.to(p, path)
	return p
}

// to leads p to a path of the page, and returns when it is drawn.
func (w *world) to(p *Page, path string) {
	w.tb.Helper()
	must(w.tb, p.Go(w.tb.Context(), "http://"+w.addr+path))
	w.sees(p, `document.querySelector("main h1") && !document.querySelector(".skeleton")`)
}

// sees waits until an expression is true on p.
func (w *world) sees(p *Page, expression string) {
	w.tb.Helper()
	must(w.tb, p.Until(w.tb.Context(), expression))
}

// shows waits until p shows a text.
func (w *world) shows(p *Page, text string) {
	w.tb.Helper()
	w.sees(p, fmt.Sprintf("document.body.innerText.includes(%s)", js(text)))
}

// press presses keys of p, one after another.
func (w *world) press(p *Page, keys ...string) {
	w.tb.Helper()
	for _, k := range keys {
		must(w.tb, p.Key(w.tb.Context(), k))
	}
}

// picture keeps what p shows, where pictures are wanted.
func (w *world) picture(p *Page, name string) {
	w.tb.Helper()
	if *pictures != "" {
		must(w.tb, p.Picture(w.tb.Context(), filepath.Join(*pictures, name+".png")))
	}
}

// quiet fails the test where p complained.
func (w *world) quiet(p *Page) {
	w.tb.Helper()
	for _, problem := range p.Problems() {
		w.tb.Errorf("the page complains: %s", problem)
	}
}

func (w *world) until(what string, ok func() bool) {
	w.tb.Helper()
	for limit := time.Now().Add(w.patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			w.tb.Fatalf("gave up waiting for %s\n%s", what, w.said)
		}
	}
}

// hook posts one payload of Claude Code.
func (w *world) hook(payload map[string]any) {
	w.tb.Helper()
	if payload["cwd"] == nil {
		payload["cwd"] = w.dir
	}
	b, err := json.Marshal(payload)
	must(w.tb, err)
	_, err = w.client.Hook(w.tb.Context(), "claude-code", b, uuid.Must(uuid.NewV7()), time.Now())
	must(w.tb, err)
}

// works has an agent work in a session: a prompt, n tool uses, a stop.
func (w *world) works(session, prompt string, n int) {
	w.tb.Helper()
	w.hook(map[string]any{"hook_event_name": "SessionStart", "session_id": session, "source": "startup"})
	w.hook(map[string]any{"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": prompt})
	for i := range n {
		w.hook(map[string]any{
			"hook_event_name": "PostToolUse", "session_id": session, "tool_use_id": fmt.Sprintf("%s-%d", session, i), "tool_name": "Bash",
			"tool_input": map[string]any{"command": fmt.Sprintf("go test ./%s%d", session, i)}, "tool_response": map[string]any{"stdout": "ok"},
		})
	}
	w.hook(map[string]any{"hook_event_name": "Stop", "session_id": session, "last_assistant_message": "Fixed " + prompt + ", because the retry never ended."})
}

// settled waits until every input has its outcome, and the views know it.
func (w *world) settled() api.Status {
	w.tb.Helper()
	var s api.Status
	w.until("every input to be settled", func() bool {
		var err error
		s, err = api.StatusRoute.Call(w.tb.Context(), w.client, api.NoQuery{})
		return err == nil && s.Inputs.Pending == 0 && s.Views[0].Lag == 0 && s.Views[1].Lag == 0
	})
	return s
}

// saves saves a memory, and returns its id.
func (w *world) saves(title, text string) string {
	w.tb.Helper()
	s, err := api.SaveRoute.Call(w.tb.Context(), w.client, api.Memory{Project: "shop", ProjectRoot: w.dir, Title: title, Text: text})
	must(w.tb, err)
	return s.ID.String()
}

func js(text string) string {
	b, _ := json.Marshal(text) // a string always can be
	return string(b)
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
