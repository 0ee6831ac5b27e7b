package install

import (
	"bufio"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestOwn: cmemd knows its own entries, however they were written, and nobody else's.
func TestOwn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"command": "cmemd-hook claude-code"}`:                                         true,
		`{"command": "cmemd-hook", "args": ["claude-code"]}`:                            true,
		`{"command": "/a b/cmemd-hook", "args": ["codex"]}`:                             true,
		`{"command": "'/a b/cmemd-hook' codex"}`:                                        true,
		`{"command": "\"C:\\cmemd\\cmemd-hook.exe\" cursor"}`:                           true,
		`{"command": "/usr/local/bin/cmemd hook gemini-cli"}`:                           true,
		`{"command": "CMEMD_HOME='/x y' A=b cmemd hook codex"}`:                         true,
		`{"command": "/usr/bin/env", "args": ["CMEMD_HOME=/x", "cmemd-hook", "codex"]}`: true,
		`{"command": "/o/cmemd-hook --home '/x y' codex"}`:                              true,
		`{"command": "/o/cmemd", "args": ["hook", "--home", "/x", "claude-code"]}`:      true,
		`{"type": "http", "url": "http://127.0.0.1:37911/v1/hooks/claude-code"}`:        true,
		`{"type": "http", "url": "http://localhost:1/v1/hooks/claude-code"}`:            true,
		`{"type": "http", "url": "http://localhost:37911/v1/hooks/codex"}`:              true,
		`{"type": "http", "url": "http://example.com/v1/hooks/claude-code"}`:            false,
		`{"type": "http", "url": "http://example.com:37911/v1/hooks/claude-code"}`:      false,
		`{"type": "http", "url": "https://127.0.0.1:37911/v1/hooks/claude-code"}`:       false,
		`{"type": "http", "url": "http://127.0.0.1:8080/v1/hooks/claude-code"}`:         false,
		`{"type": "http", "url": "http://127.0.0.1/v1/hooks/claude-code"}`:              false,
		`{"type": "http", "url": "http://127.0.0.1:37911/v1/hooks/notify"}`:             false,
		`{"type": "http", "url": "http://127.0.0.1:37911/v1/hooks/slack/123"}`:          false,
		`{"type": "http", "url": "http://127.0.0.1:37911/v1/hooks/claude-code/x"}`:      false,
		`{"type": "http", "url": "http://127.0.0.1:37911/v1/hooks/"}`:                   false,
		`{"type": "http", "url": "http://127.0.0.1:37911/other"}`:                       false,
		`{"command": "cmemd-hook claude-code | tee log"}`:                               false,
		`{"command": "log; cmemd-hook claude-code"}`:                                    false,
		`{"command": "my-cmemd-hook claude-code"}`:                                      false,
		`{"command": "cmemd-hook"}`:                                                     false,
		`{"command": "cmemd status"}`:                                                   false,
		`{"command": "echo cmemd-hook claude-code"}`:                                    false,
		`{"command": "'cmemd-hook claude-code"}`:                                        false,
		`{"command": ["cmemd-hook"]}`:                                                   false,
		`"cmemd-hook claude-code"`:                                                      false,
		`{}`:                                                                            false,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if got := isCmemdHandler(v, []string{"127.0.0.1:37911", "[::1]:1"}); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

func TestOwnServer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"command": "cmemd", "args": ["mcp"]}`:                         true,
		`{"command": "cmemd", "args": ["mcp", "--home", "/x y"]}`:       true,
		`{"command": "/x/cmemd", "args": ["mcp"], "env": {"A": "b"}}`:   true,
		`{"type": "local", "command": ["/x/cmemd", "mcp"]}`:             true,
		`{"command": "env", "args": ["CMEMD_HOME=/x", "cmemd", "mcp"]}`: true,
		`{"command": "npx", "args": ["cmemd", "mcp"]}`:                  false,
		`{"command": "cmemd"}`:                                          false,
		`{"url": "http://127.0.0.1:37911/mcp"}`:                         false,
		`[]`:                                                            false,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if got := isCmemdServer(v); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

// TestOwnLinesAreKnown: whatever the path, a line that was written is known again.
func TestOwnLinesAreKnown(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dir := rapid.StringMatching(`(/[a-zA-Z0-9 '$;&|é"._-]{1,8}){1,3}`).Draw(t, "dir")
		home := rapid.SampledFrom([]string{"", "/h", dir}).Draw(t, "home")
		p := Program{Hook: []string{dir + "/cmemd-hook"}, Home: home}
		line := p.hookLine("linux", "codex")
		words, ok := splitLine(line)
		if !ok || !isCmemdCommand(words) {
			t.Fatalf("%s is not known: %q", line, words)
		}
	})
}

func TestReadTrust(t *testing.T) {
	t.Parallel()
	const hooks = `{"id":1,"result":{"data":[{"cwd":"/","hooks":[` +
		`{"eventName":"stop","command":"CMEMD_HOME='/x' /o/cmemd-hook codex","enabled":true,"trustStatus":"untrusted"},` +
		`{"eventName":"stop","command":"say","enabled":true,"trustStatus":"trusted"},` +
		`{"eventName":"sessionEnd","command":"/o/cmemd-hook codex","enabled":true,"trustStatus":"trusted"}],"errors":[]}]}}`
	for name, c := range map[string]struct {
		lines string
		want  []Trust
		err   error
	}{
		"told":         {"{\"id\":0,\"result\":{}}\nnoise\n{\"method\":\"x\"}\n" + hooks + "\n", []Trust{{"stop", "untrusted", true}, {"sessionEnd", "trusted", true}}, nil},
		"not known":    {`{"id":1,"error":{"code":-32601}}`, nil, ErrNoTrust},
		"nothing said": {`{"id":0}`, nil, ErrNoTrust},
		"none":         {`{"id":1,"result":{"data":[]}}`, nil, nil},
	} {
		got, err := ReadTrust(bufio.NewScanner(strings.NewReader(c.lines)))
		if diff := cmp.Diff(c.want, got); diff != "" || !errors.Is(err, c.err) {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	if (Trust{Status: "trusted"}).Trusted() || !(Trust{Status: "trusted", Enabled: true}).Trusted() {
		t.Error("trusted is what is enabled and trusted")
	}
	for line := range strings.Lines(TrustRequest("1.2", `/a "b"`)) {
		if !json.Valid([]byte(line)) {
			t.Errorf("%s is no JSON", line)
		}
	}
}
