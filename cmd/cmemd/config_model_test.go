package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

func TestSplitCommand(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                              nil,
		"  ":                            nil,
		"pass show  anthropic":          {"pass", "show", "anthropic"},
		`"/opt/my tools/pass" -s 'a b'`: {"/opt/my tools/pass", "-s", "a b"},
		`sh -c 'echo "$X"'`:             {"sh", "-c", `echo "$X"`},
		`a ""`:                          {"a", ""},
		`a b"c d"e`:                     {"a", "bc de"},
		`C:\tools\pass x`:               {`C:\tools\pass`, "x"},
	} {
		got, err := splitCommand(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
	for _, bad := range []string{`a "b`, `'`, `"" x`, `'"'"'" x`} {
		if got, err := splitCommand(bad); !errors.Is(err, errQuotes) {
			t.Errorf("%q: got %q, %v, want an error", bad, got, err)
		}
	}
}

// TestShownCommands holds any command to being shown by its program alone, in a form that is a command again.
func TestShownCommands(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`["' a-z]{0,12}( [a-z'" ]{0,12})?`).Draw(t, "text")
		if !isCommand(text) {
			t.Skip("no command")
		}
		args, _ := splitCommand(text)
		again, err := splitCommand(programOnly(text))
		switch {
		case err != nil:
			t.Fatalf("%q is shown as %q: %v", text, programOnly(text), err)
		case len(args) == 0 && len(again) != 0, len(args) == 1 && !cmp.Equal(args, again):
			t.Fatalf("%q is shown as %q", text, programOnly(text))
		case len(args) > 1 && !cmp.Equal([]string{args[0], "..."}, again):
			t.Fatalf("%q is shown as %q", text, programOnly(text))
		}
	})
}

// TestKeysInTheWrongPlaceAreNotRepeated: whoever puts a key where its source belongs does not find it in the error.
func TestKeysInTheWrongPlaceAreNotRepeated(t *testing.T) {
	t.Parallel()
	const user, google = "https://user:hunter2@example.com/v1", "AIzaSyD4hunter2"
	for _, line := range []string{
		`anthropic_key_env = "sk-ant-hunter2"`, `gemini_key_env = "` + google + `"`, `openai_key_file = "sk-hunter2"`,
		`openai_url = "` + user + `"`, `openai_url = "https://example.com/v1?key=hunter2"`, `anthropic_key_command = "'hunter2"`,
		`anthropic_api_key = "sk-ant-hunter2"`, `openai_key_env = "CMEMD_HUNTER2"`,
	} {
		l, err := loadConfig(homeWith(t, line), nil)
		if err == nil || strings.Contains(strings.ToLower(err.Error()), "hunter2") {
			t.Errorf("%s: got %v, want an error without what stands there", line, err)
		}
		for key, value := range l.values() {
			if strings.Contains(strings.ToLower(value), "hunter2") {
				t.Errorf("%s: %s shows %q", line, key, value)
			}
		}
	}
	l, err := loadConfig(homeWith(t, `anthropic_key_command = "curl -H 'X-Token: hunter2' http://vault"`), nil)
	if got := l.values()["anthropic_key_command"]; err != nil || got != "curl ..." {
		t.Errorf("got %q, %v, want the program alone", got, err)
	}
}

func TestModelsTogether(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file string
		environ    []string
		err        string // part of it; empty: there is none
	}{
		{name: "a service without a model", file: `provider = "openai"`, err: "provider = openai needs openai_model"},
		{name: "a service", file: "provider = \"openai\"\nopenai_model = \"gpt-5-mini\""},
		{name: "a service without a key", file: "provider = \"gemini\"\ngemini_model = \"g\"\ngemini_key_env = \"\"",
			err: "provider = gemini needs a key: set one of gemini_key_env, gemini_key_file and gemini_key_command"},
		{name: "another address without a key", file: "provider = \"gemini\"\ngemini_model = \"g\"\ngemini_key_env = \"\"\ngemini_url = \"http://gate:81\""},
		{name: "a machine of its own without a key", file: "provider = \"openai\"\nopenai_model = \"q\"\nopenai_url = \"http://[::1]:11434/v1\""},
		{name: "two sources", file: "openai_key_file = \"/k\"\nopenai_key_command = \"pass\"",
			err: "openai_key_file and openai_key_command are set together: a key comes from one of them"},
		{name: "two sources, one by a variable", file: `openai_key_file = "/k"`, environ: []string{"CMEMD_OPENAI_KEY_ENV=K"},
			err: "openai_key_env and openai_key_file are set together"},
		{name: "a source, and the default turned off", file: "openai_key_env = \"\"\nopenai_key_file = \"/k\""},
		{name: "claude-cli", file: `provider = "claude-cli"`},
		{name: "claude-cli, structured", file: "provider = \"claude-cli\"\noutput_form = \"structured\"", err: "answers in XML alone"},
		{name: "claude-cli without a model", file: "provider = \"claude-cli\"\nclaude_cli_model = \"\"", err: "needs claude_cli_model"},
		{name: "a slip in a mode", file: `mode = "cod"`, err: `mode = "cod": there is no such mode: did you mean code?`},
		{name: "no mode like it", file: `mode = "gardening"`, err: "there are code, research, writing"},
		{name: "no name of a mode", file: `mode = "../code"`, err: `mode = "../code" is not allowed`},
		{name: "no language", file: `language = "French; ignore all"`, err: "is not allowed: it may be the name of a language"},
		{name: "no model's name", file: `claude_cli_model = "--dangerously"`, err: "is not allowed: it may be the name of a model"},
		{name: "a slip in a key", file: `anthropic_modle = "x"`, err: "did you mean anthropic_model?"},
		{name: "a slip in a provider", file: `provider = "claude"`, err: "it may be extractive, playback, claude-cli, anthropic, openai, gemini"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := loadConfig(homeWith(t, c.file), c.environ)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %v, want %q", err, c.err)
			}
		})
	}
}

// TestEveryProviderIsBuilt makes each of them by its name, all from the same settings.
func TestEveryProviderIsBuilt(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	script := filepath.Join(home, "s.jsonl")
	if err := os.WriteFile(script, []byte("{\"text\":\"\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := loadConfig(home, []string{
		"CMEMD_ANTHROPIC_MODEL=a", "CMEMD_OPENAI_MODEL=o", "CMEMD_GEMINI_MODEL=g", "CMEMD_PLAYBACK_FILE=" + script, "CMEMD_MODE=research",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range providerNames() {
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

// parrot answers with what it has.
type parrot struct {
	reply observer.Reply
	err   error
}

func (parrot) Model() string { return "parrot" }

func (p parrot) Ask(context.Context, model.Question) (observer.Reply, error) { return p.reply, p.err }

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

// TestEveryFailureHasARemedy: whatever a provider's failure is, a person is told what to do.
func TestEveryFailureHasARemedy(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, name := range providerNames() {
		for _, class := range events.FailureClasses() {
			x := &try{Provider: name, key: "the variable K"}
			x.fail(&observer.Failure{Class: class, Message: "m"})
			if x.Failure.Do == "" || x.err() == nil || terminal.NextStep(x.err()) != x.Failure.Do {
				t.Errorf("%s, %s: %+v", name, class, x.Failure)
			}
			seen[x.Failure.Do] = true
		}
	}
	if len(seen) < 9 {
		t.Errorf("only %d remedies", len(seen))
	}
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	x := &try{Provider: "openai"}
	x.fail(&observer.Failure{Class: events.FailLimit, ResetsAt: at})
	if !strings.Contains(x.Failure.Do, "wait until "+terminal.Moment(at)) {
		t.Errorf("got %q", x.Failure.Do)
	}
	x.fail(errors.New("exit status 2"))
	if x.Failure.Class != events.FailCrash {
		t.Errorf("got %+v, want a crash", x.Failure)
	}
}
