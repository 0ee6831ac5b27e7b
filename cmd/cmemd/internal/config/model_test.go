package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
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
		l, err := Load(writeHome(t, line), nil)
		if err == nil || strings.Contains(strings.ToLower(err.Error()), "hunter2") {
			t.Errorf("%s: got %v, want an error without what stands there", line, err)
		}
		for key, value := range l.Values() {
			if strings.Contains(strings.ToLower(value), "hunter2") {
				t.Errorf("%s: %s shows %q", line, key, value)
			}
		}
	}
	l, err := Load(writeHome(t, `anthropic_key_command = "curl -H 'X-Token: hunter2' http://vault"`), nil)
	if got := l.Values()["anthropic_key_command"]; err != nil || got != "curl ..." {
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
		{name: "two sources of the embeddings' key", file: "embeddings_key_file = \"/k\"\nembeddings_key_env = \"K\"",
			err: "embeddings_key_env and embeddings_key_file are set together: a key comes from one of them"},
		{name: "three", file: "embeddings_key_command = \"pass\"\nembeddings_key_file = \"/k\"\nembeddings_key_env = \"K\"",
			err: "embeddings_key_env and embeddings_key_file and embeddings_key_command are set together: a key comes from one of them"},
		{name: "one of the embeddings' key", file: `embeddings_key_file = "/k"`},
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
			_, err := LoadWithVariables(writeHome(t, c.file), c.environ)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %v, want %q", err, c.err)
			}
		})
	}
}
