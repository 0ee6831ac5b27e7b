//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
)

// TestEnvironmentHasNoEffect starts daemons by a hook and by `cmemd start`, each in a plain environment and in one with hundreds of
// variables by which a folder, or an agent that was started there, could try to reach it. What the daemon has in force, where it keeps
// things, and what it, its git and its model's client are given is the same, and nothing that the variables name is run.
func TestEnvironmentHasNoEffect(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git here")
	}
	for _, how := range []string{"hook", "start", "mcp"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			plain := newSurrounded(t, git).run(how, nil)
			w := newSurrounded(t, git)
			hostile := w.hostile()
			if len(hostile) < 200 {
				t.Fatalf("only %d variables", len(hostile))
			}
			got := w.run(how, hostile)
			if diff := cmp.Diff(plain, got); diff != "" {
				t.Errorf("-in a plain environment +in a hostile one\n%s", diff)
			}
			if left, err := os.ReadDir(w.bait); len(left) != w.baited || err != nil {
				t.Errorf("what the variables name was run or written to: %v, %v", left, err)
			}
		})
	}
}

// A surrounded is a program with a repository, and with a git and a client of its own, which write down what they are given.
type surrounded struct {
	program
	dir, project string
	bait         string // the folder of what hostile variables name
	baited       int    // how much is in it
}

// given is what a daemon came to, but for what differs between two homes.
type given struct {
	Home                bool // is the one that was named
	Settings            map[string]string
	Daemon, Git, Claude []string
}

const recordedClient = `#!/bin/sh
env > "${0%/*}/new.$$"; mv "${0%/*}/new.$$" "${0%/*}/claude.$$.env"
if [ "$1" = --version ]; then echo "2.1.329 (Claude Code)"; exit; fi
cat >/dev/null
echo '{"type":"system","subtype":"init","session_id":"s","model":"m"}'
echo '{"type":"assistant","message":{"id":"m","type":"message","role":"assistant","model":"<synthetic>","stop_reason":"stop_sequence","content":[{"type":"text","text":"Not logged in"}]},"parent_tool_use_id":null,"error":"authentication_failed"}'
echo '{"type":"result","subtype":"success","is_error":true,"stop_reason":"stop_sequence","result":"Not logged in","total_cost_usd":0,"usage":{"input_tokens":0,"output_tokens":0}}'
exit 1
`

func newSurrounded(t *testing.T, git string) *surrounded {
	t.Helper()
	w := &surrounded{program: newProgram(t), dir: t.TempDir()}
	w.project, w.bait = filepath.Join(w.dir, "project"), filepath.Join(w.dir, "bait")
	bin := filepath.Join(w.dir, "bin")
	err := errors.Join(os.MkdirAll(w.project, 0o700), os.MkdirAll(w.bait, 0o700), os.MkdirAll(bin, 0o700), os.MkdirAll(w.home, 0o700),
		os.WriteFile(filepath.Join(bin, "claude"), []byte(recordedClient), 0o700),
		os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\nenv > \"${0%/*}/new.$$\"; mv \"${0%/*}/new.$$\" \"${0%/*}/git.$$.env\"\nexec "+git+` "$@"`+"\n"), 0o700),
		relay.Programs{Path: "/usr/bin:/bin", Cmemd: w.path, Git: filepath.Join(bin, "git"), Claude: filepath.Join(bin, "claude"), UserHome: w.dir}.Write(w.home),
		spool.LayKey(w.home, time.Now()),
		writeSettings(w.home, []string{"listen=", "provider=claude-cli"}))
	if err != nil {
		t.Fatal(err)
	}
	init := exec.Command(git, "-c", "init.defaultBranch=main", "init", "-q", w.project)
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() {
		if d, err := homedir.ReadDaemonFile(homedir.PathsOf(w.home).Daemon); err == nil {
			_ = d.Signal(os.Kill)
		}
	})
	return w
}

// hostile lists variables that mean something to cmemd, to what it starts, or to programs in general.
func (w *surrounded) hostile() (env []string) {
	trap := filepath.Join(w.bait, "trap")
	script := []byte("#!/bin/sh\ntouch \"" + w.bait + "/sprung\"\n")
	for _, name := range []string{"trap", "git", "claude", "cmemd", "cmemd-hook", "node", "sh"} {
		if err := os.WriteFile(filepath.Join(w.bait, name), script, 0o700); err != nil {
			w.t.Fatal(err)
		}
		w.baited++
	}
	add := func(value string, names ...string) {
		for _, name := range names {
			env = append(env, name+"="+value)
		}
	}
	for _, s := range new(config.Config).Settings() {
		value := trap
		if s.Words != nil {
			value = s.Words[len(s.Words)-1]
		}
		add(value, s.Env())
	}
	add("x", "CMEMD_NOTHING", "CMEMD_LEFT_OUT", "CMEMD_HOOKS")
	add(w.bait, "CMEMD_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS", "TMPDIR", "TEMP", "TMP",
		"CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_DIR", "PATH", "GOPATH", "PYTHONPATH", "PERL5LIB", "RUBYLIB", "NODE_PATH", "LD_LIBRARY_PATH", "MANPATH", "CDPATH")
	add("http://127.0.0.1:9", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "FTP_PROXY",
		"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GEMINI_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL", "OTEL_EXPORTER_OTLP_ENDPOINT")
	add("sk-of-nobody", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_MESSAGING_TOKEN",
		"GITHUB_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AZURE_CLIENT_SECRET", "GOOGLE_APPLICATION_CREDENTIALS")
	add("1", "CMEMD_NO_START", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY", "CLAUDE_CODE_SKIP_BEDROCK_AUTH", "ANTHROPIC_LOG", "ANTHROPIC_MODEL",
		"ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDECODE", "CLAUDE_CODE_SIMPLE", "MAX_THINKING_TOKENS", "DISABLE_TELEMETRY", "DEBUG",
		"GODEBUG", "GOGC", "GOMAXPROCS", "GOTRACEBACK", "GOFLAGS", "NODE_TLS_REJECT_UNAUTHORIZED", "PYTHONSTARTUP", "UV_THREADPOOL_SIZE", "MALLOC_CHECK_", "COLUMNS", "NO_COLOR")
	add(trap, "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NODE_OPTIONS", "BUN_OPTIONS",
		"BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELL", "EDITOR", "VISUAL", "PAGER", "BROWSER", "LESSOPEN", "LD_PRELOAD", "LD_AUDIT", "LD_DEBUG_OUTPUT", "DYLD_INSERT_LIBRARIES",
		"DYLD_LIBRARY_PATH", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS", "SSH_ASKPASS", "SSH_AUTH_SOCK", "GPG_TTY", "DBUS_SESSION_BUS_ADDRESS", "LOCPATH", "NLSPATH", "GCONV_PATH", "HOSTALIASES")
	for _, name := range []string{
		"DIR", "WORK_TREE", "INDEX_FILE", "OBJECT_DIRECTORY", "ALTERNATE_OBJECT_DIRECTORIES", "COMMON_DIR", "NAMESPACE", "CONFIG", "CONFIG_GLOBAL", "CONFIG_SYSTEM",
		"EXEC_PATH", "TEMPLATE_DIR", "SSH", "SSH_COMMAND", "PROXY_COMMAND", "ASKPASS", "EDITOR", "SEQUENCE_EDITOR", "PAGER", "EXTERNAL_DIFF", "TRACE", "TRACE2", "TRACE_PACKET",
		"ATTR_SOURCE", "ALLOW_PROTOCOL", "CEILING_DIRECTORIES", "DISCOVERY_ACROSS_FILESYSTEM", "REPLACE_REF_BASE", "SHALLOW_FILE", "GRAFT_FILE", "CONFIG_PARAMETERS", "REDIRECT_STDERR",
	} {
		add(trap, "GIT_"+name)
	}
	add(w.bait, "HOME") // after the person's own: the last one holds
	add("1", "GIT_CONFIG_COUNT")
	add("core.fsmonitor", "GIT_CONFIG_KEY_0")
	add(trap, "GIT_CONFIG_VALUE_0")
	return env
}

// run starts a daemon, lets a session work, and tells what came of it.
func (w *surrounded) run(how string, hostile []string) (g given) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), clitest.Timeout)
	defer cancel()
	run := func(stdin string, args ...string) {
		c := exec.CommandContext(ctx, w.path, args...)
		c.Dir, c.Stdin = w.project, strings.NewReader(stdin)
		c.Env = slices.Concat([]string{"HOME=" + w.dir, "LANG=C", "PATH=/usr/bin:/bin"}, hostile)
		if out, err := c.CombinedOutput(); err != nil {
			w.t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	switch how {
	case "start":
		run("", "start", "--home", w.home)
	case "mcp":
		run(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"status","arguments":{}}}
`, "mcp", "--home", w.home)
	}
	for _, event := range sessionPayloads("one") {
		event["cwd"] = w.project
		payload, err := json.Marshal(event)
		if err != nil {
			w.t.Fatal(err)
		}
		run(string(payload), "hook", "--home", w.home, "claude-code")
	}
	client := client.Dial(w.home)
	defer client.Close()
	var status api.Status
	w.until("a daemon to be ready", func() (err error) {
		status, err = api.StatusRoute.Call(ctx, client, api.NoQuery{})
		if err == nil && !status.Ready {
			err = errors.New(status.Phase)
		}
		return err
	})
	g.Home, g.Settings = status.Home == w.home, status.Settings
	g.Daemon = w.environOf(fmt.Sprintf("/proc/%d/environ", status.PID), "\x00")
	g.Git, g.Claude = w.environOf("git.*.env", "\n"), w.environOf("claude.*.env", "\n")
	return g
}

// environOf waits for a file that holds what a process was given, and returns that, sorted; what differs between any two processes
// is left out.
func (w *surrounded) environOf(pattern, between string) (env []string) {
	w.t.Helper()
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(w.dir, "bin", pattern)
	}
	w.until(pattern, func() error {
		files, _ := filepath.Glob(pattern)
		if len(files) == 0 {
			return errors.New("there is none")
		}
		text, err := os.ReadFile(files[0])
		for kv := range strings.SplitSeq(strings.Trim(string(text), between), between) {
			name, _, _ := strings.Cut(kv, "=")
			if !slices.Contains([]string{"CMEMD_OBSERVER", relay.LeftOutVar, "PWD", "OLDPWD", "SHLVL", "_"}, name) {
				env = append(env, strings.ReplaceAll(strings.ReplaceAll(kv, w.home, "HOME"), w.dir, "DIR"))
			}
		}
		return err
	})
	slices.Sort(env)
	return env
}

func (w *surrounded) until(what string, done func() error) {
	w.t.Helper()
	limit := time.Now().Add(clitest.Timeout)
	for err := done(); err != nil; err = done() {
		if time.Now().After(limit) {
			said, _ := os.ReadFile(filepath.Join(w.home, "logs", "start.log"))
			w.t.Fatalf("waited too long for %s: %v; the daemon said %s", what, err, said)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
