package config

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/internal/setting"
)

// Reach is what is set of the way to services, and of what Claude Code as an observer is given beside that. No variable of the
// environment stands for any of it.
type Reach struct {
	Proxy   string
	NoProxy []string
	CAFile  string

	ClaudeURL    string
	ClaudeFolder string
	ClaudeCloud  string
	ClaudeEnv    []string
}

// noCloud is the setting of a client that asks its own service.
const noCloud = "none"

// clouds are those through which the client can ask, with the variable that tells it to.
func clouds() map[string]string {
	return map[string]string{"bedrock": "CLAUDE_CODE_USE_BEDROCK", "vertex": "CLAUDE_CODE_USE_VERTEX", "foundry": "CLAUDE_CODE_USE_FOUNDRY"}
}

// settings is the part of the table that says how services are reached.
func (c *Reach) settings() []setting.Row {
	return []setting.Row{
		secret(setting.Text(&c.Proxy, "proxy", "", "an http, https or socks5 URL without a user, or empty", "the proxy by which services are asked, those of this machine apart; empty: none", isProxy), unmasked),
		setting.List(&c.NoProxy, "no_proxy", "names of hosts, each with those below it", "hosts that are asked without the proxy", allHosts),
		setting.Path(&c.CAFile, "ca_file", "a PEM file of authorities that are trusted beside the system's; empty: the system's alone"),
		secret(setting.Text(&c.ClaudeURL, "claude_cli_url", "", "an http or https URL without a user and a query, or empty", "where claude-cli asks; empty: its own service",
			func(text string) bool { return text == "" || isBaseURL(text) }), unmasked),
		setting.Path(&c.ClaudeFolder, "claude_cli_folder", "the folder of claude-cli's login and settings; empty: ~/.claude"),
		setting.Word(&c.ClaudeCloud, "claude_cli_cloud", noCloud, []string{noCloud, "bedrock", "vertex", "foundry"}, "the cloud by which claude-cli asks; what it logs in with there claude_cli_env names"),
		setting.List(&c.ClaudeEnv, "claude_cli_env", "names of variables in capitals that are not cmemd's",
			"variables that claude-cli is given, such as ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN; empty: none, as where it is logged in",
			func(list []string) bool {
				return len(list) <= maxNames && !slices.ContainsFunc(list, func(n string) bool { return n == "" || !isVariable(n) })
			}),
	}
}

func isProxy(text string) bool {
	u, err := url.Parse(text)
	return text == "" || err == nil && slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) && u.Host != "" &&
		u.User == nil && u.RawQuery == "" && u.Fragment == "" && strings.Trim(u.Path, "/") == ""
}

func allHosts(list []string) bool {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("/@*", r) }
	return len(list) <= maxNames && !slices.ContainsFunc(list, func(h string) bool { return strings.Trim(h, ".") == "" || strings.ContainsFunc(h, odd) })
}

// Endpoint is where the service called name is asked, the way there, and the key, which is read when it is needed; nil where none is
// sent. An error says what is wrong with ca_file.
func (l *Loaded) Endpoint(name string) (e model.Endpoint, err error) {
	e = model.Endpoint{URL: l.Service(name).URL, Proxy: l.proxyFor}
	if from := l.keySource(name); !isNowhere(from) {
		if e.Key, err = model.NewKey(from); err != nil {
			return e, err
		}
	}
	e.Roots, err = l.roots()
	return e, err
}

// maxCA is longer than any list of authorities, in bytes: that of a system is a quarter of a megabyte.
const maxCA = 16 << 20

// roots are the authorities that are trusted; nil: the system's alone.
func (c *Reach) roots() (*x509.CertPool, error) {
	if c.CAFile == "" {
		return nil, nil
	}
	text, err := durable.ReadLinked(c.CAFile, maxCA)
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("ca_file: those of the system: %w", err)
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New("ca_file: " + c.CAFile + " holds no certificate in PEM")
	}
	return pool, nil
}

// proxyFor returns the proxy by which a request goes; nil: none.
func (c *Reach) proxyFor(r *http.Request) (*url.URL, error) {
	if c.Proxy == "" || c.isDirect(r.URL.Hostname()) {
		return nil, nil
	}
	return url.Parse(c.Proxy)
}

// isDirect reports whether a host is asked without the proxy.
func (c *Reach) isDirect(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if isThisMachine(host) {
		return true
	}
	return slices.ContainsFunc(c.NoProxy, func(without string) bool {
		without = strings.ToLower(strings.Trim(without, "."))
		return host == without || strings.HasSuffix(host, "."+without)
	})
}

// forClaude is what claude-cli's child is given by settings.
func (c *Reach) forClaude() (env []string) {
	add := func(name, value string) {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
		add(name, c.Proxy)
	}
	if c.Proxy != "" {
		add("NO_PROXY", strings.Join(append([]string{"localhost", "127.0.0.1", "::1"}, c.NoProxy...), ","))
	}
	add("NODE_EXTRA_CA_CERTS", c.CAFile)
	add("ANTHROPIC_BASE_URL", c.ClaudeURL)
	add("CLAUDE_CONFIG_DIR", c.ClaudeFolder)
	if variable := clouds()[c.ClaudeCloud]; variable != "" {
		add(variable, "1")
	}
	return env
}
