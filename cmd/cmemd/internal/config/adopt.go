package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/observer/claudecli"
	"github.com/cmemd/cmemd/internal/observer/extractive"
	"github.com/cmemd/cmemd/internal/observer/playback"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/internal/setting"
)

// An Unheeded variable stands in an environment, had a say there in earlier releases, and has none now.
type Unheeded struct {
	Name string
	Key  string // of the setting that says the same
	how  adoptionMode
}

// adoptionMode is how a setting takes over what a variable says.
type adoptionMode int

const (
	adoptValue adoptionMode = iota // the variable's value
	adoptName                      // the variable's name, beside others
	adoptCloud                     // the cloud that the variable stands for
)

// An adoption is a variable, or all whose name begins so, and the setting that takes its place.
type adoption struct {
	name   string
	prefix bool
	key    string // empty: the variable had no say
	how    adoptionMode
}

// TellUnheeded says on standard error which variables do not count.
func (l *Loaded) TellUnheeded(a *terminal.App) {
	if all := l.Unheeded(); len(all) > 0 {
		a.Infof("not heeded: %s; settings come from %s alone: `cmemd config set KEY VALUE`", NameUnheeded(all), FileName)
	}
}

// NameUnheeded lists variables, each with the setting that takes its place.
func NameUnheeded(all []Unheeded) string {
	var names []string
	for _, u := range all {
		names = append(names, fmt.Sprintf("%s (%s)", terminal.VisibleLine(u.Name), u.Key))
	}
	return strings.Join(names, ", ")
}

// Adopt returns the changes of a settings file by which its settings say what unheeded variables of an environment do, and of those
// whose values no setting may have, why.
func (l *Loaded) Adopt(all []Unheeded, environ []string) (changes []Change, refused []error) {
	was, values := &Loaded{Environ: environ}, map[string]string{}
	for _, u := range all {
		value, taken := values[u.Key]
		switch {
		case u.how == adoptName && !taken:
			value = strings.Join(append(slices.Clone(l.ClaudeEnv), u.Name), setting.Comma)
		case u.how == adoptName:
			value += setting.Comma + u.Name
		case taken:
			continue // HTTP_PROXY beside HTTPS_PROXY, say
		case u.how == adoptCloud:
			value = cloudOf(u.Name)
		default:
			value = was.Getenv(u.Name)
		}
		s, err := SettingNamed(u.Key)
		if err == nil {
			err = check(s, value)
		}
		if err != nil {
			refused = append(refused, fmt.Errorf("%s: %w", u.Name, err))
			continue
		}
		values[u.Key] = value
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		changes = append(changes, Change{Key: key, Value: new(values[key])})
	}
	return changes, refused
}

func cloudOf(variable string) string {
	for cloud, one := range clouds() {
		if one == variable {
			return cloud
		}
	}
	return noCloud
}

// networkAdoptions are of the way to services. Names are in capitals: proxies are set in either case.
func networkAdoptions() []adoption {
	return []adoption{
		{name: "HTTPS_PROXY", key: "proxy"}, {name: "HTTP_PROXY", key: "proxy"}, {name: "ALL_PROXY", key: "proxy"},
		{name: "NO_PROXY", key: "no_proxy"},
		{name: "SSL_CERT_FILE", key: "ca_file"}, {name: "SSL_CERT_DIR", key: "ca_file"}, {name: "NODE_EXTRA_CA_CERTS", key: "ca_file"},
	}
}

// claudeAdoptions are what the client of claude-cli was given in earlier releases.
func claudeAdoptions() (all []adoption) {
	all = []adoption{
		{name: "ANTHROPIC_BASE_URL", key: "claude_cli_url"}, {name: "CLAUDE_CONFIG_DIR", key: "claude_cli_folder"},
		{name: "ANTHROPIC_LOG"},
		{name: "ANTHROPIC_", prefix: true, key: "claude_cli_env", how: adoptName},
		{name: "CLAUDE_CODE_OAUTH_", prefix: true, key: "claude_cli_env", how: adoptName},
		{name: "CLAUDE_CODE_CLIENT_", prefix: true, key: "claude_cli_env", how: adoptName},
		{name: "CLAUDE_CODE_SKIP_", prefix: true, key: "claude_cli_env", how: adoptName},
	}
	for _, variable := range slices.Sorted(maps.Values(clouds())) {
		all = append(all, adoption{name: variable, key: "claude_cli_cloud", how: adoptCloud})
	}
	return all
}

// cloudAdoptions are what a cloud is reached by, by the variable that chose it.
func cloudAdoptions() map[string][]string {
	return map[string][]string{
		"CLAUDE_CODE_USE_BEDROCK": {"AWS_"}, "CLAUDE_CODE_USE_FOUNDRY": {"AZURE_"},
		"CLAUDE_CODE_USE_VERTEX": {"GOOGLE_", "GCLOUD_", "CLOUDSDK_", "CLOUD_ML_", "VERTEX_REGION_"},
	}
}

// Unheeded lists the variables of the environment that do not reach the daemon, or those whom it asks, and that a setting could
// speak for, which is not set.
func (l *Loaded) Unheeded() (all []Unheeded) { return l.unheeded(l.adoptions()) }

// UnheededOf is Unheeded with all that would matter if the variables of an environment were heeded: whom they have asked, say.
func (l *Loaded) UnheededOf(environ []string) (all []Unheeded) {
	was, _ := LoadWithVariables(l.Home, environ) // beside an error are those that can be used
	return l.unheeded(was.adoptions())
}

// unheeded is Unheeded in the order of the adoptions.
func (l *Loaded) unheeded(adoptions []adoption) (all []Unheeded) {
	at := map[string]int{}
	for _, name := range l.leftOut {
		i := slices.IndexFunc(adoptions, func(a adoption) bool {
			upper := strings.ToUpper(name)
			return upper == a.name || a.prefix && strings.HasPrefix(upper, a.name)
		})
		if i < 0 || adoptions[i].key == "" {
			continue
		}
		a := adoptions[i]
		named := a.how == adoptName && slices.Contains(l.ClaudeEnv, name)
		if !named && (a.how == adoptName || l.From[a.key] == FromDefault) {
			all = append(all, Unheeded{Name: name, Key: a.key, how: a.how})
			at[name] = i
		}
	}
	order.By(all, func(a, b Unheeded) int {
		return cmp.Or(cmp.Compare(at[a.Name], at[b.Name]), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// adoptions are those that could matter with these settings.
func (l *Loaded) adoptions() (all []adoption) {
	for _, s := range l.Settings() {
		all = append(all, adoption{name: s.Env(), key: s.Key})
	}
	asked := l.ConfiguredProviders()
	local := func(name string) bool { return name == extractive.Name || name == playback.Name }
	if l.Embeddings.Endpoint.URL != "" || !slices.ContainsFunc(asked, local) || len(asked) > 1 {
		all = append(all, networkAdoptions()...)
	}
	if !slices.Contains(asked, claudecli.Name) {
		return all
	}
	all = append(all, claudeAdoptions()...)
	for variable, prefixes := range cloudAdoptions() {
		if slices.Contains(l.leftOut, variable) || clouds()[l.ClaudeCloud] == variable {
			for _, prefix := range prefixes {
				all = append(all, adoption{name: prefix, prefix: true, key: "claude_cli_env", how: adoptName})
			}
		}
	}
	return all
}
