package config

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/internal/agents/relay"
)

// TestVariablesAreNoSettings: by the file alone, and where somebody asks for it, over it.
func TestVariablesAreNoSettings(t *testing.T) {
	t.Parallel()
	home := writeHome(t, "slots = 3\n")
	if err := (relay.Programs{Path: "/recorded", Git: "/g"}).Write(home); err != nil {
		t.Fatal(err)
	}
	environ := []string{"HOME=/h", "PATH=/bin", "CMEMD_SLOTS=5", "CMEMD_IDLE_STOP=never", "GIT_DIR=/x", "OPENAI_API_KEY=k", "OTHER=x"}
	l, err := Load(home, environ)
	if err != nil || l.Slots != 3 || l.From["slots"] != "config.toml:1" || l.Programs.Git != "/g" {
		t.Errorf("got %d from %s, %+v, %v", l.Slots, l.From["slots"], l.Programs, err)
	}
	if diff := cmp.Diff([]string{"HOME=/h", "OPENAI_API_KEY=k", "PATH=/recorded"}, l.Environ); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	l, err = LoadWithVariables(home, environ)
	if err == nil || l.Slots != 5 || !slices.Equal(l.Environ, environ) || l.Programs != (relay.Programs{}) {
		t.Errorf("got %d, %q, %+v, %v", l.Slots, l.Environ, l.Programs, err)
	}
}

// TestVariablesOfKeys: what a daemon is given is what the settings of those who are asked name.
func TestVariablesOfKeys(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"": "",
		"provider = \"openai\"\nopenai_model = \"m\"":                                                   "OPENAI_API_KEY",
		"provider = \"openai\"\nopenai_model = \"m\"\nopenai_url = \"http://127.0.0.1:1/v1\"":           "",
		"provider = \"openai\"\nopenai_model = \"m\"\nopenai_key_file = \"/k\"":                         "",
		"provider = \"extractive\"\nfallbacks = \"gemini\"\ngemini_model = \"m\"\ngemini_key_env=\"K\"": "K",
		"embeddings_url = \"https://x/v1\"\nembeddings_model = \"m\"\nembeddings_key_env = \"E\"":       "E",
		"embeddings_key_env = \"E\"": "",
		"provider = \"claude-cli\"":  "",
		"provider = \"claude-cli\"\nclaude_cli_env = \"AWS_PROFILE,ANTHROPIC_API_KEY\"": "ANTHROPIC_API_KEY,AWS_PROFILE",
		"claude_cli_env = \"AWS_PROFILE\"":                                              "",
	} {
		l, err := Load(writeHome(t, file), nil)
		if got := strings.Join(l.Variables(), ","); got != want || err != nil {
			t.Errorf("%s: got %s, %v; want %s", file, got, err, want)
		}
	}
}

// TestClaudeEnviron: what the client is given is on the list, or in the settings.
func TestClaudeEnviron(t *testing.T) {
	t.Parallel()
	environ := []string{
		"HOME=/h", "PATH=/bin", "ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=http://evil", "AWS_PROFILE=p", "CLAUDE_CONFIG_DIR=/evil", "HTTPS_PROXY=http://evil",
		"NODE_OPTIONS=--x", "CMEMD_PROVIDER=claude-cli", "CLAUDE_CODE_USE_VERTEX=1", "OPENAI_API_KEY=k",
	}
	settings := `provider = "claude-cli"
claude_cli_env = "AWS_PROFILE"
claude_cli_cloud = "bedrock"
claude_cli_url = "https://here"
claude_cli_folder = "/mine"
proxy = "http://proxy:3128"
no_proxy = "corp.example"
ca_file = "/ca.pem"
`
	set := []string{
		"HTTP_PROXY=http://proxy:3128", "HTTPS_PROXY=http://proxy:3128", "NO_PROXY=localhost,127.0.0.1,::1,corp.example", "NODE_EXTRA_CA_CERTS=/ca.pem",
		"ANTHROPIC_BASE_URL=https://here", "CLAUDE_CONFIG_DIR=/mine", "CLAUDE_CODE_USE_BEDROCK=1",
	}
	home := writeHome(t, settings)
	for name, load := range map[string]func(string, []string) (*Loaded, error){"started": Load, "by hand": LoadWithVariables} {
		l, err := load(home, environ)
		if err != nil {
			t.Fatal(err)
		}
		path := "PATH=/bin"
		if name == "started" {
			path = l.Environ[len(l.Environ)-1]
		}
		if diff := cmp.Diff(slices.Concat([]string{"HOME=/h", "AWS_PROFILE=p", path}, set), l.ClaudeEnviron()); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
	l, err := Load(writeHome(t, `provider = "claude-cli"`), environ)
	if got := l.ClaudeEnviron(); err != nil || len(got) != 2 || got[0] != "HOME=/h" || !strings.HasPrefix(got[1], "PATH=") || got[1] == "PATH=/bin" {
		t.Errorf("without settings: %q, %v", got, err)
	}
}

// TestUnheeded: what had a say before is told, where it would matter and no setting speaks for it, and can be taken over.
func TestUnheeded(t *testing.T) {
	t.Parallel()
	environ := []string{
		"CMEMD_SLOTS=5", "CMEMD_LOG_LEVEL=debug", "CMEMD_NOTHING=x", "HTTP_PROXY=http://one", "https_proxy=http://two", "SSL_CERT_DIR=relative",
		"ANTHROPIC_API_KEY=k", "ANTHROPIC_LOG=debug", "ANTHROPIC_BASE_URL=http://there", "CLAUDE_CODE_USE_BEDROCK=1", "AWS_REGION=eu", "AWS_PROFILE=p",
		"CLAUDE_CODE_OAUTH_TOKEN=t", "GITHUB_TOKEN=t", "LD_PRELOAD=x", "GOOGLE_CLOUD_PROJECT=x",
	}
	claude := `provider = "claude-cli"
log_level = "info"
claude_cli_env = "AWS_PROFILE"
`
	for name, c := range map[string]struct {
		file    string
		names   string
		changes map[string]string
		refused int
	}{
		"nobody is asked": {"log_level = \"info\"\n", "CMEMD_SLOTS", map[string]string{"slots": "5"}, 0},
		"a model is": {claude, "CMEMD_SLOTS https_proxy HTTP_PROXY SSL_CERT_DIR ANTHROPIC_BASE_URL ANTHROPIC_API_KEY CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_USE_BEDROCK AWS_REGION",
			map[string]string{"slots": "5", "proxy": "http://two", "claude_cli_url": "http://there", "claude_cli_cloud": "bedrock",
				"claude_cli_env": "AWS_PROFILE,ANTHROPIC_API_KEY,CLAUDE_CODE_OAUTH_TOKEN,AWS_REGION"}, 1},
		"by settings that say it": {claude + "slots = 3\nproxy = \"http://mine\"\nca_file = \"/c\"\nclaude_cli_url = \"http://mine\"\nclaude_cli_cloud = \"bedrock\"",
			"ANTHROPIC_API_KEY CLAUDE_CODE_OAUTH_TOKEN AWS_REGION", map[string]string{"claude_cli_env": "AWS_PROFILE,ANTHROPIC_API_KEY,CLAUDE_CODE_OAUTH_TOKEN,AWS_REGION"}, 0},
	} {
		l, err := Load(writeHome(t, c.file), environ)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, u := range l.Unheeded() {
			names = append(names, u.Name)
		}
		if got := strings.Join(names, " "); got != c.names {
			t.Errorf("%s: got %s, want %s", name, got, c.names)
		}
		changes, refused := l.Adopt(l.Unheeded(), environ)
		got := map[string]string{}
		for _, ch := range changes {
			got[ch.Key] = *ch.Value
		}
		if diff := cmp.Diff(c.changes, got); diff != "" || len(refused) != c.refused {
			t.Errorf("%s: -want +got\n%s%v", name, diff, refused)
		}
	}
}

// TestUnheededOf: what would matter to whom the variables themselves name is told too.
func TestUnheededOf(t *testing.T) {
	t.Parallel()
	environ := []string{"CMEMD_PROVIDER=claude-cli", "ANTHROPIC_API_KEY=k", "HTTPS_PROXY=http://p"}
	l, err := Load(writeHome(t, ""), environ)
	if err != nil || len(l.Unheeded()) != 1 || len(l.UnheededOf(environ)) != 3 {
		t.Errorf("got %v and %v, %v", l.Unheeded(), l.UnheededOf(environ), err)
	}
}

func TestProxy(t *testing.T) {
	t.Parallel()
	r := Reach{Proxy: "http://proxy:3128", NoProxy: []string{"corp.example", ".intern"}}
	for host, direct := range map[string]bool{
		"api.openai.com": false, "127.0.0.1:9": true, "[::1]:9": true, "localhost": true, "corp.example": true, "a.CORP.example:8443": true,
		"notcorp.example": false, "x.intern": true, "corp.example.evil": false,
	} {
		got, err := r.proxyFor(&http.Request{URL: &url.URL{Scheme: "https", Host: host}})
		if err != nil || (got == nil) != direct {
			t.Errorf("%s: got %v, %v", host, got, err)
		}
	}
	if got, err := new(Reach).proxyFor(&http.Request{URL: &url.URL{Host: "x"}}); got != nil || err != nil {
		t.Errorf("without one: %v, %v", got, err)
	}
	for text, ok := range map[string]bool{
		"": true, "http://p:1": true, "https://p": true, "socks5://p:1": true, "p:1": false, "http://u:pw@p": false, "http://p/x": false, "ftp://p": false, "http://": false,
	} {
		if isProxy(text) != ok {
			t.Errorf("%q: got %v", text, !ok)
		}
	}
}

func TestRoots(t *testing.T) {
	t.Parallel()
	none, text := filepath.Join(t.TempDir(), "none"), filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{none: "no such file", text: "holds no certificate"} {
		r := Reach{CAFile: file}
		if _, err := r.roots(); err == nil || !strings.HasPrefix(err.Error(), "ca_file: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
