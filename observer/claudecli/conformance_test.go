package claudecli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/observer"
	"github.com/cmemd/cmemd/observer/model"
	"github.com/cmemd/cmemd/observer/prompt"
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
