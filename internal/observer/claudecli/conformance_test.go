package claudecli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/internal/observer/prompt"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// texts asks with the beginning of each text of a prompt, as it stands.
type texts struct{}

func (texts) Question(p observer.Prompt, _ events.Form) model.Question {
	const most = 16 << 10
	parts := append([]string{p.Request, p.Message, p.Project}, p.Recent...)
	for _, in := range p.Inputs {
		if e, ok := in.Event.(events.ToolUsed); ok {
			parts = append(parts, e.Input, e.Output)
		}
	}
	for i, part := range parts {
		parts[i] = part[:min(len(part), most)]
	}
	return model.Question{System: "You condense. be brief", User: strings.Join(parts, "\n")}
}

// TestConformance holds the client, as a daemon asks it, to what every provider promises. A shell takes its part, for some
// 500 children are started.
func TestConformance(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no shell")
	}
	bin := t.TempDir()
	path, said := filepath.Join(bin, "claude"), filepath.Join(bin, "said")
	writeProgram(t, path, fmt.Sprintf("#!/bin/sh\ncat > /dev/null\nexec cat '%s'\n", said))
	if err := os.WriteFile(said, []byte(answerSaid), 0o600); err != nil {
		t.Fatal(err)
	}
	providertest.Run(t, func(t *testing.T) observer.Provider {
		c, err := New(Config{Dir: t.TempDir(), Path: path, Env: []string{"PATH=" + os.Getenv("PATH")}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := model.New(model.Config{Name: Name, Asker: c, Renderer: texts{}, Form: events.FormXML, Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}, providertest.Options{})
}

// TestService holds the client to what every service comes to.
func TestService(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no links")
	}
	for _, release := range []string{"2.1.197", "2.1.329"} {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			providertest.RunService(t, func(t *testing.T) providertest.Service { return recording{newFake(t, ""), t, release} })
		})
	}
}

// recording is the client as a providertest.Service: it says what a release was recorded to say, or as it says it.
type recording struct {
	fake
	t       *testing.T
	release string
}

// Behave changes the script.
func (r recording) Behave(b providertest.Behaviour) {
	r.t.Helper()
	half := len(b.Text) / 2
	script := initSaid + startSaid
	if b.Text != "" {
		script += textSaid(r.t, b.Text[:half])
	}
	switch b.Treatment {
	case providertest.Answers:
		script += textSaid(r.t, b.Text[half:]) + stopSaid + resultSaid
	case providertest.Dawdles:
		script += "!pause\n" + textSaid(r.t, b.Text[half:]) + stopSaid + resultSaid
	case providertest.Bounds:
		script += textSaid(r.t, b.Text[half:]) + strings.Replace(stopSaid, "end_turn", "max_tokens", 1) + "!hang\n"
	case providertest.Hangs:
		script += "!hang\n"
	case providertest.Blocks:
		script = r.recorded("safety")
	case providertest.Breaks:
		script = r.recorded("cut-in-block")
	case providertest.Refuses:
		script = r.recorded(fmt.Sprint(b.Status))
	}
	r.play(r.t, script)
}

func (r recording) recorded(name string) string {
	return readFile(r.t, filepath.Join("testdata", r.release, name+".jsonl"))
}

// textSaid is a piece of an answer as the client passes it on.
func textSaid(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return `{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":` + string(b) + "}}}\n"
}

// Provider asks the client as a daemon does.
func (r recording) Provider(t *testing.T, limit time.Duration) observer.Provider {
	t.Helper()
	p, err := model.New(model.Config{
		Name: Name, Asker: r.client(t), Renderer: texts{}, Form: events.FormXML, Retries: -1, Timeout: limit,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestBudget: what a child reads holds no more captured text than a prompt allows.
func TestBudget(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no shell")
	}
	bin := t.TempDir()
	path, said, read := filepath.Join(bin, "claude"), filepath.Join(bin, "said"), filepath.Join(bin, "read")
	writeProgram(t, path, fmt.Sprintf("#!/bin/sh\ncat > '%s'\nexec cat '%s'\n", read, said))
	if err := os.WriteFile(said, []byte(answerSaid), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := New(Config{Dir: t.TempDir(), Path: path, Env: []string{"PATH=" + os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	questions, err := prompt.New(prompt.Config{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.New(model.Config{Name: Name, Asker: c, Renderer: questions, Form: events.FormXML, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	sent := func() string {
		b, _ := os.ReadFile(read)
		return string(b)
	}
	if err := providertest.Budget(t.Context(), p, sent); err != nil {
		t.Error(err)
	}
}
