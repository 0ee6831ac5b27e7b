package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// TestEveryProviderIsBuilt makes each of them by its name, all from the same settings.
func TestEveryProviderIsBuilt(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	script := filepath.Join(home, "s.jsonl")
	if err := os.WriteFile(script, []byte("{\"text\":\"\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := config.Load(home, []string{
		"CMEMD_ANTHROPIC_MODEL=a", "CMEMD_OPENAI_MODEL=o", "CMEMD_GEMINI_MODEL=g", "CMEMD_PLAYBACK_FILE=" + script, "CMEMD_MODE=research",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range config.ProviderNames() {
		p, err := builder{settings: l, runs: filepath.Join(home, "run")}.provider(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		mode := "research"
		if name == "extractive" {
			mode = "code"
		}
		if p.Name() != name || p.Model() == "" || p.mode.ID != mode {
			t.Errorf("%s: got %s, model %q, mode %s, want mode %s", name, p.Name(), p.Model(), p.mode.ID, mode)
		}
		if err := p.close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (builder{settings: l}).provider("nobody"); err == nil || !strings.Contains(err.Error(), "there are extractive, ") {
		t.Errorf("nobody: got %v", err)
	}
}

func TestAnswersDoNotHoldTheKey(t *testing.T) {
	t.Parallel()
	guard := func(secret string, p parrot) guarded {
		key, err := model.NewKey(model.KeySource{Env: "K", Getenv: func(string) string { return secret }})
		if err != nil {
			t.Fatal(err)
		}
		return guarded{Asker: p, key: key}
	}
	said := "<title>" + canaryKey + canaryKey + "</title>"
	got, err := guard(canaryKey, parrot{reply: observer.Reply{Text: events.NewOutput(said), Bill: events.Bill{Model: canaryKey}, StopReason: canaryKey}}).Ask(t.Context(), model.Question{})
	want := observer.Reply{Text: events.NewOutput("<title>[key][key]</title>"), Bill: events.Bill{Model: "[key]"}, StopReason: "[key]"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	_, err = guard(canaryKey, parrot{err: &observer.Failure{Class: events.FailTruncated, Output: events.NewOutput(said)}}).Ask(t.Context(), model.Question{})
	if f, ok := errors.AsType[*observer.Failure](err); !ok || f.Output.RawText() != want.Text.RawText() {
		t.Errorf("got %v, want its output without the key", err)
	}
	short := observer.Reply{Text: events.NewOutput("none of it")}
	if got, err := guard("none", parrot{reply: short}).Ask(t.Context(), model.Question{}); err != nil || got.Text.RawText() != short.Text.RawText() {
		t.Errorf("a word for a key: got %q, %v", got.Text, err)
	}
	if _, err := guard(canaryKey, parrot{err: model.ErrForm}).Ask(t.Context(), model.Question{}); !errors.Is(err, model.ErrForm) {
		t.Errorf("got %v, want %v", err, model.ErrForm)
	}
}

// parrot answers with what it has.
type parrot struct {
	reply observer.Reply
	err   error
}

func (parrot) Model() string { return "parrot" }

func (p parrot) Ask(context.Context, model.Question) (observer.Reply, error) { return p.reply, p.err }
