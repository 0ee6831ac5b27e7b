package providers

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/prompt"
	"github.com/cmemd/cmemd/internal/redact"
	"github.com/cmemd/cmemd/internal/redact/full"
	"github.com/cmemd/cmemd/testkit/race"
	"github.com/cmemd/cmemd/testkit/secrets"
)

// listener is a service that keeps what it is sent, every byte of it, and answers nothing of use.
type listener struct {
	*httptest.Server
	mu  sync.Mutex // guards the field below
	all bytes.Buffer
}

func newListener(t *testing.T) *listener {
	s := &listener{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if err := r.Write(&s.all); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusUnprocessableEntity)
	}))
	t.Cleanup(s.Close)
	return s
}

// taken returns what came since it was called last.
func (s *listener) taken() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.all.Reset()
	return s.all.String()
}

// TestNoSecretIsSent plants secrets in all that a question is made of, and looks through every byte that each provider
// sends, in each form, for each kind of turn.
func TestNoSecretIsSent(t *testing.T) {
	t.Parallel()
	service := newListener(t)
	child := filepath.Join(t.TempDir(), "child")
	for _, c := range []struct{ provider, form string }{
		{"anthropic", config.FormXML}, {"anthropic", config.FormStructured}, {"openai", config.FormXML}, {"openai", config.FormStructured},
		{"gemini", config.FormXML}, {"gemini", config.FormStructured}, {"claude-cli", config.FormXML},
	} {
		sent := service.taken
		environ := []string{
			"CMEMD_OBSERVER_RETRIES=0", "CMEMD_OUTPUT_FORM=" + c.form,
			"CMEMD_ANTHROPIC_MODEL=m", "CMEMD_ANTHROPIC_URL=" + service.URL, "CMEMD_OPENAI_MODEL=m", "CMEMD_OPENAI_URL=" + service.URL,
			"CMEMD_GEMINI_MODEL=m", "CMEMD_GEMINI_URL=" + service.URL, "ANTHROPIC_API_KEY=k-1", "OPENAI_API_KEY=k-2", "GEMINI_API_KEY=k-3",
		}
		if c.provider == "claude-cli" {
			if runtime.GOOS == "windows" {
				continue
			}
			sent = func() string { return childSaw(t, child) }
			environ = append(environ, "CMEMD_CLAUDE_CLI_PATH="+fakeChild(t, child), "PATH="+os.Getenv("PATH"))
		}
		l, err := config.LoadWithVariables(t.TempDir(), environ)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Builder{Settings: l, Runs: filepath.Join(t.TempDir(), "run")}.build(c.provider)
		if err != nil {
			t.Fatal(err)
		}
		checkSent(t, c.provider+", "+c.form, p, sent)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func checkSent(t *testing.T, name string, p observer.Provider, sent func() string) {
	t.Helper()
	for _, batch := range race.Sample(slices.Collect(slices.Chunk(secrets.Make(77), 6))) {
		for _, kind := range []events.TurnKind{events.TurnObservation, events.TurnSummary} {
			q := planted(batch)
			q.Kind = kind
			_, _ = p.Complete(t.Context(), q)
			all := sent()
			if n := strings.Count(all, "plainly visible"); n < 5 {
				t.Fatalf("%s, %s: the question was not sent: %d texts in %d bytes", name, kind, n, len(all))
			}
			for _, s := range batch {
				if strings.Contains(all, s.Find) || strings.Contains(all, strings.Trim(clitest.JSON(s.Find), `"`)) {
					t.Errorf("%s, %s: %s %q was sent", name, kind, s.Rule, s.Find)
				}
				if !strings.Contains(all, redact.Mark(s.Rule)) {
					t.Errorf("%s, %s: there is no mark of %s", name, kind, s.Rule)
				}
			}
		}
	}
}

// planted is a question with secrets in each of its texts.
func planted(batch []secrets.Secret) observer.Prompt {
	var all strings.Builder
	p := observer.Prompt{Attempt: 1, Agent: "claude-code", Stop: events.StopDone}
	use := func(tool, input, output string) {
		e := events.ToolUsed{ToolUseID: "t", Tool: tool, Input: input, Output: output}
		p.Inputs = append(p.Inputs, observer.Input{Position: 1, At: time.Unix(1e9, 0), Event: e})
	}
	for i, s := range batch {
		line := strings.Join(strings.Fields(s.Text), " ") // a title has no line ends
		if strings.Contains(s.Text, "-----BEGIN") {
			line = s.Text
		}
		all.WriteString(s.Text + "\n")
		use("Bash", clitest.JSON(map[string]string{"command": "git commit -m " + clitest.JSON("plainly visible "+s.Text)}), clitest.JSON(map[string]string{"stdout": "plainly visible\n" + s.Text}))
		use("Read", clitest.JSON(map[string]string{"file_path": "/srv/" + line + "/a.txt"}), "plainly visible\n"+s.Text+"\n")
		use("mcp__x__y", clitest.JSON(map[string]any{"list": []string{s.Text}, "n": i}), clitest.JSON([]map[string]string{{"type": "text", "text": "plainly visible " + s.Text}}))
		p.Recent = append(p.Recent, "plainly visible "+line)
		p.Observed = append(p.Observed, events.ObservationParsed{
			Type: "bugfix", Title: "plainly visible " + line, Subtitle: line, Narrative: "it was\n" + s.Text, Facts: []string{line}, FilesModified: []string{line},
		})
	}
	p.Inputs = append(p.Inputs, observer.Input{Position: 2, At: time.Unix(1e9, 0), Event: events.ContextCompacted{Summary: "plainly visible\n" + all.String()}})
	p.Project, p.Cwd = batch[0].Text, "/work/"+batch[0].Text
	p.Request, p.Message = "plainly visible\n"+all.String(), "plainly visible\n"+all.String()
	return p
}

// fakeChild is a client that keeps what it is given in the folder dir, and fails.
func fakeChild(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "claude")
	script := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = --version ]; then echo '2.1.300 (Claude Code)'; exit 0; fi\n"+
		"{ printf '%%s\\n' \"$@\"; env; cat; cat $(printf '%%s\\n' \"$@\" | grep '^/') /dev/null 2>/dev/null; } >> %q\nexit 1\n", filepath.Join(dir, "saw"))
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// childSaw returns what a fakeChild was given since it was called last.
func childSaw(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "saw")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestOrdinaryQuestionsStay: what holds no secret is sent as it is, our own words and the marks between records above all.
func TestOrdinaryQuestionsStay(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../../internal/agents/testdata/claude-code/PostToolUse*.json")
	if err != nil || len(files) < 5 {
		t.Fatalf("payloads: %d, %v", len(files), err)
	}
	q := observer.Prompt{Attempt: 1, Project: "shop", Cwd: "/src/shop", Agent: "claude-code", Request: "mend the checkout"}
	for i, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		r, err := agents.ClaudeCode{}.Decode(b, agents.Meta{Delivery: events.ID{1}, OccurredAt: time.Unix(1e9, 0)})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Captures {
			q.Inputs = append(q.Inputs, observer.Input{Position: events.Position(i + 1), At: c.At, Event: c.Event})
		}
	}
	redact := full.New().TextOrAll
	for _, id := range config.ModeNames("") {
		mode, err := observer.LoadMode(nil, id)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := prompt.New(prompt.Config{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		redacting, err := prompt.New(prompt.Config{Mode: mode, Redact: redact})
		if err != nil {
			t.Fatal(err)
		}
		for _, q.Kind = range []events.TurnKind{events.TurnObservation, events.TurnSummary} {
			for _, form := range []events.Form{events.FormXML, events.FormStructured} {
				want, got := plain.Question(q, form), redacting.Question(q, form)
				got.System, got.User = redact(got.System), redact(got.User)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s, %s, %s (-want +got):\n%s", id, q.Kind, form, diff)
				}
			}
		}
	}
}
