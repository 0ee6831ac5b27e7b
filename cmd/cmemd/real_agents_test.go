package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

// otherModel speaks for Codex and Gemini CLI what they ask their models in: it has them say something, write a file, and then stop.
type otherModel struct {
	*httptest.Server
	mu    sync.Mutex // guards asked
	asked []string   // bodies of requests
}

func newOtherModel(t *testing.T) *otherModel {
	m := &otherModel{}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// ServeHTTP implements http.Handler.
func (m *otherModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	body := string(raw)
	m.mu.Lock()
	m.asked = append(m.asked, body)
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	say := func(event string) { fmt.Fprintf(w, "data: %s\n\n", event) }
	const command = `echo limit 4096 > notes.md; cat notes.md`
	const remark = `The limit is in no file yet.`
	if strings.Contains(r.URL.Path, "GenerateContent") {
		part := `{"text":"` + remark + `"},{"functionCall":{"name":"run_shell_command","args":{"command":"` + command + `"}}}`
		if strings.Contains(body, `"functionResponse"`) {
			part = `{"text":"The limit is in notes.md."}`
		}
		say(`{"candidates":[{"content":{"role":"model","parts":[` + part + `]},"finishReason":"STOP","index":0}]}`)
		return
	}
	item := `{"type":"function_call","id":"fc_1","call_id":"call_1","name":"exec_command","arguments":"{\"cmd\":\"` + command + `\"}"}`
	if strings.Contains(body, `"additional_tools"`) { // of newer models, which write programs
		item = `{"type":"custom_tool_call","id":"fc_1","call_id":"call_1","name":"exec","input":"const r = await tools.exec_command({cmd: '` + command + `'}); text(r.output);"}`
	}
	if strings.Contains(body, `"function_call_output"`) || strings.Contains(body, `"custom_tool_call_output"`) {
		item = `{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"The limit is in notes.md."}]}`
	}
	say(`{"type":"response.created","response":{"id":"resp_1"}}`)
	if strings.Contains(item, "_call") {
		item = `{"type":"message","id":"msg_0","role":"assistant","content":[{"type":"output_text","text":"` + remark + `"}]}` + "}\n\n" +
			`data: {"type":"response.output_item.done","output_index":1,"item":` + item
	}
	say(`{"type":"response.output_item.done","output_index":0,"item":` + item + `}`)
	say(`{"type":"response.completed","response":{"id":"resp_1","usage":{"input_tokens":1,"input_tokens_details":null,"output_tokens":1,"output_tokens_details":null,"total_tokens":2}}}`)
}

// with is how many of the requests hold a text, and how many there were.
func (m *otherModel) with(text string) (with, all int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, body := range m.asked {
		if strings.Contains(body, text) {
			with++
		}
	}
	return with, len(m.asked)
}

// otherAgent is an agent beside Claude Code, and how it is run once.
type otherAgent struct {
	name, program, variable string
	settings                func(url string) (path, text string)
	files                   []string // of settings, below the person's home, that cmemd changes
	env                     func(url string) []string
	args                    []string
	transcripts             string // below the person's home
	known                   int    // captures of a session that its transcript repeats under the same keys
}

func otherAgents() []otherAgent {
	return []otherAgent{{
		name: "codex", program: "codex", variable: "CMEMD_TEST_CODEX",
		settings: func(url string) (string, string) {
			return ".codex/config.toml", "model = \"gpt-6.2-sol\"\nmodel_provider = \"fake\"\n\n[model_providers.fake]\nname = \"fake\"\n" +
				"base_url = \"" + url + "/v1\"\nwire_api = \"responses\"\n"
		},
		files: []string{".codex/config.toml", ".codex/hooks.json"},
		env:   func(string) []string { return nil },
		args: []string{"exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
			"--dangerously-bypass-hook-trust"},
		transcripts: ".codex/sessions", known: 5,
	}, {
		name: "gemini-cli", program: "gemini", variable: "CMEMD_TEST_GEMINI",
		settings: func(string) (string, string) {
			return ".gemini/settings.json", `{"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}}}` + "\n"
		},
		files: []string{".gemini/settings.json"},
		env: func(url string) []string {
			return []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_CLI_TRUST_WORKSPACE=true"}
		},
		args:        []string{"--yolo", "-m", "gemini-2.5-flash", "-p"},
		transcripts: ".gemini/tmp", known: 5,
	}}
}

// TestRealAgentsRemember: Codex and Gemini CLI as `cmemd install` leaves them. What they do is captured, what was remembered
// reaches their models in the next session, their own transcripts tell nothing twice, and a removal leaves their settings as they
// were, byte for byte.
func TestRealAgentsRemember(t *testing.T) {
	t.Parallel()
	for _, a := range otherAgents() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			w, model := newPersonsWorld(t, a.program, a.found(t), ""), newOtherModel(t)
			w.env = append(w.env, a.env(model.URL)...)
			w.remembers(a, model)
		})
	}
}

// remembers has an agent work in two sessions.
func (w *personsWorld) remembers(a otherAgent, model *otherModel) {
	w.t.Helper()
	name, text := a.settings(model.URL)
	name = filepath.Join(w.person, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	was := w.settingsOf(a)
	w.ran("cmemd", "install", a.name, "--yes")
	if cmp.Equal(was, w.settingsOf(a)) {
		w.t.Errorf("%s: nothing was put into %v", a.name, a.files)
	}
	w.ran(a.program, append(a.args, "Look around")...)
	if got := w.capturedInputs(); got != 2 {
		w.t.Errorf("%s: captured %d inputs, want a tool call and a stop", a.name, got)
	}
	w.ran("cmemd", "save", "The limit was raised to 4096 for the sake of long headers", "--title", "Limit")
	before, seen := model.with("for the sake of long headers")
	w.ran(a.program, append(a.args, "What is the limit")...)
	if with, all := model.with("for the sake of long headers"); before != 0 || with != all-seen || with < 2 {
		w.t.Errorf("%s: memory stands in %d of %d requests before it was saved, and in %d of %d after; want none and all", a.name, before, seen, with, all-seen)
	}
	var got struct{ Captured, Duplicates, Malformed int }
	out := w.ran("cmemd", "ingest", "--json", filepath.Join(w.person, a.transcripts))
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	if got.Captured != 0 || got.Duplicates != 2*a.known || got.Malformed != 0 {
		w.t.Errorf("%s: its transcripts gave %+v; want none new and %d known\n%s", a.name, got, 2*a.known, out)
	}
	if got := w.capturedInputs(); got != 4 {
		w.t.Errorf("%s: captured %d inputs of two sessions, want 4", a.name, got)
	}
	w.ran("cmemd", "uninstall", "--yes")
	if diff := cmp.Diff(was, w.settingsOf(a)); diff != "" {
		w.t.Errorf("%s: -before +after:\n%s", a.name, diff)
	}
	said := 0
	w.uses, w.stops = 2, 2
	for _, e := range w.end() {
		if _, ok := e.event.(events.AgentSaid); ok {
			said++
		}
	}
	if said != 2 {
		w.t.Errorf("%s: %d texts between tool calls are on record of two sessions, want 2", a.name, said)
	}
}

// settingsOf is what an agent's settings hold, of the files that are there.
func (w *personsWorld) settingsOf(a otherAgent) map[string]string {
	w.t.Helper()
	all := map[string]string{}
	for _, name := range a.files {
		text, err := os.ReadFile(filepath.Join(w.person, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			w.t.Fatal(err)
		}
		all[name] = string(text)
	}
	return all
}

// capturedInputs is how many inputs the daemon has captured.
func (w *personsWorld) capturedInputs() int {
	w.t.Helper()
	var status struct{ Inputs struct{ Captured int } }
	if err := json.Unmarshal([]byte(w.ran("cmemd", "status", "--json")), &status); err != nil {
		w.t.Fatal(err)
	}
	return status.Inputs.Captured
}

// found looks for an agent's program, or skips the test.
func (a otherAgent) found(t *testing.T) string {
	t.Helper()
	path := a.program
	if named := os.Getenv(a.variable); named != "" {
		path = named
	}
	path, err := exec.LookPath(path)
	if err != nil {
		t.Skipf("%s is not installed here: the test looks for it on the PATH, or for what %s names", a.program, a.variable)
	}
	if path, err = filepath.Abs(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRealCodexIsOnlyAsked: to learn which hooks Codex trusts leaves its home as it was, but for the number by which it knows
// itself, and asks nobody over the network. What it says of hooks that are not trusted, and of hooks that it does not run at all, is told.
func TestRealCodexIsOnlyAsked(t *testing.T) {
	t.Parallel()
	codex := otherAgents()[0]
	w := newPersonsWorld(t, codex.program, codex.found(t), "")
	var asked atomic.Int32
	network := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(network.Close)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		w.env = append(w.env, name+"="+network.URL)
	}
	config := filepath.Join(w.person, ".codex", "config.toml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte("model = \"o\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.ran("cmemd", "install", "codex", "--yes")
	want := w.codexFiles()
	if names := slices.Sorted(maps.Keys(want)); !slices.Equal(names, []string{"config.toml", "hooks.json", "installation_id"}) {
		t.Errorf("an installation leaves %v", names)
	}
	for _, says := range []string{"Codex does not run 6 of 6 hooks of cmemd", "Codex knows 0 of 6 hooks of cmemd"} {
		if c := w.doctor("agents", says); c.State != "wrong" || c.Mend == "" {
			t.Errorf("want %q, got %+v", says, c)
		}
		if got := w.codexFiles(); !cmp.Equal(got, want) {
			t.Errorf("after doctor: %s", cmp.Diff(want, got))
		}
		text, err := os.ReadFile(config)
		if err == nil {
			want["config.toml"] = string(text) + "\n[features]\nhooks = false\n"
			err = os.WriteFile(config, []byte(want["config.toml"]), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests went out to the network", n)
	}
}

// codexFiles is what the files of Codex's home hold, by their names.
func (w *personsWorld) codexFiles() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	dir := filepath.Join(w.person, ".codex")
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir+string(filepath.Separator))] = string(text)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// doctorSays is what `cmemd doctor` says of one thing.
type doctorSays struct{ Name, State, Says, Mend string }

// doctor is what `cmemd doctor` says of one thing with certain words in it; the zero value: nothing.
func (w *personsWorld) doctor(name, says string) doctorSays {
	w.t.Helper()
	c := w.command(w.ctx, "doctor", "--json")
	c.Dir = w.cwd
	out, err := c.Output()
	var d struct{ Checks []doctorSays }
	if json.Unmarshal(out, &d) != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range d.Checks {
		if c.Name == name && strings.Contains(c.Says, says) {
			return c
		}
	}
	w.t.Logf("nothing says %q:\n%s", says, out)
	return doctorSays{}
}

// TestRealPluginIsLookedAt: what a person does with Claude Code's plugin is told, and mended by what is said.
func TestRealPluginIsLookedAt(t *testing.T) {
	t.Parallel()
	w := newPersonsWorld(t, "claude", realClaude(t), "")
	w.install()
	well := func(when string) {
		t.Helper()
		if c := w.doctor("agents", "Claude Code: cmemd is in it (plugin)"); c.State != "note" {
			t.Errorf("%s: got %+v", when, c)
		}
	}
	well("installed")
	for says, spoil := range map[string]func() error{
		"the plugin is not installed there, or is switched off": func() error {
			w.ran("claude", "plugin", "disable", "cmemd@cmemd")
			return nil
		},
		"is not the plugin that": func() error { return os.RemoveAll(filepath.Join(w.home, "install", "claude-code")) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if c := w.doctor("agents", says); c.State != "wrong" || c.Mend != "`cmemd install claude-code`" {
			t.Errorf("want %q, got %+v", says, c)
		}
		w.install()
		well("after " + says)
	}
}
