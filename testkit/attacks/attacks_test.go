package attacks

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

var wanted = flag.Bool("attacks", false, "try the attacks on the real programs")

// patience is how long a script waits for what has to happen.
const patience = 30 * time.Second

func TestAttacks(t *testing.T) {
	if !*wanted {
		t.Skip("the suite of attacks runs with -attacks")
	}
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "github.com/cmemd/cmemd/cmd/cmemd", "github.com/cmemd/cmemd/cmd/cmemd-hook")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireUniqueNames: true, Setup: func(env *testscript.Env) error { return setUp(env, bin) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"hook": hook, "tool": tool, "eventually": eventually, "variables": variables, "capture": capture, "nowhere": nowhere, "endpoint": endpoint,
		},
	})
}

// TestSecurityPageListsTheAttacks: the page and the scripts name the same cases.
func TestSecurityPageListsTheAttacks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	var listed, have []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, m[1])
	}
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		have = append(have, strings.TrimSuffix(filepath.Base(f), ".txtar"))
	}
	slices.Sort(listed)
	if diff := cmp.Diff(have, listed); diff != "" {
		t.Errorf("scripts and SECURITY.md differ (-scripts +page):\n%s", diff)
	}
}

// setUp gives a script a person's home folder, in which the daemon's home is where it is by default, and the programs.
func setUp(env *testscript.Env, bin string) error {
	person := filepath.Join(env.WorkDir, "person")
	home := filepath.Join(person, ".local", "share", "cmemd")
	for _, dir := range []string{person, home, filepath.Join(env.WorkDir, "tmp")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := os.Chmod(env.WorkDir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte("listen = \"\"\n"), 0o600); err != nil {
		return err
	}
	env.Vars = []string{
		"HOME=" + person, "DAEMON=" + home, "WORK=" + env.WorkDir, "PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=dev", "GIT_AUTHOR_EMAIL=dev@example.org", "GIT_COMMITTER_NAME=dev", "GIT_COMMITTER_EMAIL=dev@example.org",
	}
	env.Defer(func() {
		stop := exec.Command(filepath.Join(bin, "cmemd"), "stop", "--home", home)
		stop.Env = env.Vars
		_ = stop.Run() // it may have ended
	})
	return nil
}

// hook FOLDER EVENT [JSON] has an agent in a folder report an event, with what the members of JSON say, by the hook that an
// installation names; what it is answered is on standard output.
func hook(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: hook FOLDER EVENT [JSON]")
	}
	payload := map[string]any{"session_id": ts.Getenv("SESSION"), "hook_event_name": args[1], "cwd": ts.MkAbs(args[0])}
	if payload["session_id"] == "" {
		payload["session_id"] = "one"
	}
	if len(args) == 3 {
		ts.Check(json.Unmarshal([]byte(args[2]), &payload))
	}
	if args[1] == "PostToolUse" && payload["tool_use_id"] == nil {
		payload["tool_use_id"] = fmt.Sprint("t", time.Now().UnixNano())
	}
	text, err := json.Marshal(payload)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("payload.json"), text, 0o600))
	// exec of the script takes its standard input from a file alone
	command := "cmemd-hook --home \"$DAEMON\" claude-code < payload.json"
	if ts.Getenv("OLD_HOOK") != "" {
		command = "cmemd-hook claude-code < payload.json"
	}
	if err := ts.Exec("sh", "-c", command); err != nil {
		ts.Fatalf("a hook failed: %v", err)
	}
	fmt.Fprint(ts.Stdout(), ts.ReadFile("stdout"))
}

// tool FOLDER TOOL JSON has an agent in a folder call a tool of the memory's server. With a ! the answer has to be an error.
func tool(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: tool FOLDER TOOL JSON")
	}
	var in map[string]any
	ts.Check(json.Unmarshal([]byte(args[2]), &in))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	server := exec.CommandContext(ctx, "sh", "-c", "exec cmemd --home \"$DAEMON\" mcp")
	server.Dir = ts.MkAbs(args[0])
	for _, name := range []string{"HOME", "DAEMON", "PATH", "TZ"} {
		server.Env = append(server.Env, name+"="+ts.Getenv(name))
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
	ts.Check(err)
	defer session.Close()
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: args[1], Arguments: in})
	ts.Check(err)
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			fmt.Fprintln(ts.Stdout(), text.Text)
		}
	}
	if res.IsError != neg {
		ts.Fatalf("%s: error %v, want %v", args[1], res.IsError, neg)
	}
}

// eventually PATTERN COMMAND... runs a command until its output matches.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually PATTERN COMMAND...")
	}
	pattern := regexp.MustCompile("(?m)" + args[0])
	for limit := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		err := ts.Exec(args[1], args[2:]...)
		out := ts.ReadFile("stdout")
		if pattern.MatchString(out) {
			fmt.Fprint(ts.Stdout(), out)
			return
		}
		if time.Now().After(limit) {
			ts.Fatalf("no match for %q (%v) in\n%s%s", args[0], err, out, ts.ReadFile("stderr"))
		}
	}
}

// capture NAME PATTERN sets a variable to what the group of a pattern matches in the last output.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME PATTERN")
	}
	m := regexp.MustCompile("(?m)" + args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if m == nil {
		ts.Fatalf("no match for %q", args[1])
	}
	ts.Setenv(args[0], m[1])
}

// nowhere TEXT fails if a file below the daemon's home holds a text.
func nowhere(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: nowhere TEXT")
	}
	ts.Check(filepath.WalkDir(ts.Getenv("DAEMON"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // a file that is being replaced
		}
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text, []byte(args[0])) {
			ts.Fatalf("%s holds %q", path, args[0])
		}
		return nil
	}))
}

// endpoint listens as a model's service would, until the script ends, has ENDPOINT name it, and writes down in endpoint.log what it is
// sent.
func endpoint(ts *testscript.TestScript, _ bool, _ []string) {
	log := ts.MkAbs("endpoint.log")
	ts.Check(os.WriteFile(log, nil, 0o600))
	service := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			fmt.Fprintln(f, "asked:", r.URL)
			f.Close()
		}
		http.Error(w, "{}", http.StatusInternalServerError)
	}))
	var err error
	service.Listener, err = net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	service.Start()
	ts.Defer(service.Close)
	ts.Setenv("ENDPOINT", service.URL)
}

// variables sets all that an agent's environment, a folder's .env or direnv may set to move a daemon: each setting of cmemd by its
// variable, and those of agents, proxies, certificates, loaders, shells, git and node.
func variables(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Check(ts.Exec("cmemd", "config", "show", "--json", "--home", ts.Getenv("DAEMON")))
	var settings []struct {
		Key string `json:"key"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &settings))
	n := 0
	set := func(name, value string) { ts.Setenv(name, value); n++ }
	for _, s := range settings {
		set("CMEMD_"+strings.ToUpper(s.Key), "evil")
	}
	evil, url := ts.MkAbs("evil"), ts.Getenv("ENDPOINT")
	for name, value := range map[string]string{
		"CMEMD_HOME": evil, "CMEMD_PROVIDER": "openai", "CMEMD_OPENAI_URL": url + "/v1", "CMEMD_OPENAI_MODEL": "x",
		"CMEMD_OPENAI_KEY_COMMAND": "/bin/sh -c 'touch " + ts.MkAbs("pwned") + "; echo k'",
	} {
		set(name, value)
	}
	for _, name := range []string{"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "TMP", "TEMP"} {
		set(name, evil)
	}
	for _, name := range []string{
		"ANTHROPIC_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE", "GEMINI_BASE_URL",
		"GOOGLE_GEMINI_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
	} {
		set(name, url)
	}
	for _, name := range []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_MODEL", "ANTHROPIC_CUSTOM_HEADERS", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY",
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CODEX_HOME",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_OPTIONS", "NODE_PATH", "PYTHONPATH",
		"PYTHONSTARTUP", "RUBYOPT", "PERL5OPT", "BASH_ENV", "ENV", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH",
		"GOTRACEBACK", "GOMAXPROCS", "GODEBUG", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_EXEC_PATH", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_ASKPASS",
		"GIT_CEILING_DIRECTORIES", "GIT_TRACE", "EDITOR", "PAGER", "BROWSER", "SHELLOPTS", "PS4", "IFS", "NODE_TLS_REJECT_UNAUTHORIZED", "NODE_REPL_EXTERNAL_MODULE",
		"npm_config_registry", "npm_config_prefix", "npm_config_script_shell", "YARN_RC_FILENAME", "BUN_INSTALL", "DENO_DIR", "PIP_INDEX_URL", "PIP_CONFIG_FILE",
		"VIRTUAL_ENV", "CONDA_PREFIX", "CARGO_HOME", "RUSTC_WRAPPER", "JAVA_TOOL_OPTIONS", "MAVEN_OPTS", "GRADLE_USER_HOME", "GOFLAGS", "GOPROXY", "GOPATH",
		"DOCKER_HOST", "KUBECONFIG", "SSH_AUTH_SOCK", "SSH_ASKPASS", "GNUPGHOME", "PGHOST", "REDIS_URL", "DATABASE_URL", "VAULT_ADDR", "NO_PROXY",
	} {
		set(name, evil)
	}
	if n < 200 {
		ts.Fatalf("%d variables are set, want 200", n)
	}
}
