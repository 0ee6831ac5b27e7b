package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/observer/claudecli"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/internal/observer/openai"
	"github.com/cmemd/cmemd/internal/observer/playback"
	"github.com/cmemd/cmemd/internal/setting"
)

// As is l where the provider of who asks that model.
func (l *Loaded) As(who setting.Asked) *Loaded {
	with := *l
	if m := with.Model(who.Name); m != nil && who.Model != "" { // one that takes no model has nil; Load's error says so
		*m = who.Model
	}
	return &with
}

// checkChoice reports what those who are chosen lack, or cannot do together.
func (l *Loaded) checkChoice() error {
	errs := []error{l.CheckProvider("provider = "+l.Provider, l.Provider)}
	seen := map[string]bool{l.Provider: true}
	for _, name := range l.Fallbacks {
		switch {
		case name == l.Provider:
			errs = append(errs, fmt.Errorf("fallbacks names %s, which is the provider itself: name others to be asked while it is paused", name))
		case seen[name]:
			errs = append(errs, fmt.Errorf("fallbacks names %s twice", name))
		default:
			errs = append(errs, l.CheckProvider("fallbacks names "+name+", which", name))
		}
		seen[name] = true
	}
	return errors.Join(append(errs, l.checkTier(setting.SummaryTier, l.Summary), l.checkTier(setting.TrivialTier, l.Trivial))...)
}

// checkTier reports what the tier t of that name lacks. What the provider's own settings lack is reported of them.
func (l *Loaded) checkTier(name string, t setting.Tier) error {
	who, ok := l.Resolve(t)
	switch {
	case !ok:
		return nil
	case t.Model != "" && l.Model(who.Name) == nil:
		return fmt.Errorf("%s_model is set, and %s asks no model that could be chosen: unset it, or let %[1]s_provider name another one", name, who.Name)
	case t.Provider == "" || slices.Contains(l.Order(), t.Provider) && who.Model == "":
		return nil
	}
	return l.As(who).CheckProvider(name+"_provider = "+who.Name, who.Name)
}

// limitsMoney reports whether a budget is one of US dollars.
func (l *Loaded) limitsMoney() bool { return l.Budget.USDDay != 0 || l.Budget.USDSession != 0 }

// paysAs reports whether l limits the same money as other, and spends it on the same models.
func (l *Loaded) paysAs(other *Loaded) bool {
	same := func(a, b setting.Asked) bool { return a == b && l.As(a).ModelOf(a.Name) == other.As(b).ModelOf(b.Name) }
	return l.Budget.USDDay == other.Budget.USDDay && l.Budget.USDSession == other.Budget.USDSession &&
		slices.EqualFunc(l.Configured(), other.Configured(), same)
}

// CheckPrices reports a budget of money where nobody knows what is paid.
func (l *Loaded) CheckPrices(ps Prices) error {
	if !l.limitsMoney() {
		return nil
	}
	var errs []error
	for _, who := range l.Configured() {
		model := l.As(who).ModelOf(who.Name)
		if _, known := ps.lookup(who.Name, model); known || l.Model(who.Name) == nil { // claude-cli too: one that is stopped does not say what it cost
			continue
		}
		errs = append(errs, fmt.Errorf("no price is known of %s: a budget in US dollars would not hold it", terminal.NameOfModel(who.Name, model)))
	}
	return terminal.Advise(errors.Join(errs...), "add a [[price]] to %s in CMEMD_HOME (`cmemd usage --help` shows one), or limit tokens: %s, %s",
		pricesFile, policy.LimitTokensDay, policy.LimitTokensSession)
}

// CheckProvider reports what the provider called name lacks, or cannot do together with the rest. An error begins with
// what names it: a setting and its value, or a sentence without its verb.
func (l *Loaded) CheckProvider(where, name string) error {
	s := l.Service(name)
	switch {
	case name == playback.Name && l.PlaybackFile == "":
		return fmt.Errorf("%s %w", where, ErrNoPlayback)
	case name == claudecli.Name && l.ModelOf(name) == "":
		return fmt.Errorf("%s needs claude_cli_model, the model that it asks", where)
	case name == claudecli.Name && l.OutputForm == FormStructured:
		return fmt.Errorf("%s answers in XML alone: set output_form to auto or xml", where)
	case s == nil:
		return nil
	case l.ModelOf(name) == "":
		return fmt.Errorf("%s needs %s_model, the model that it asks", where, name)
	case isNowhere(l.keySource(name)) && s.URL == standardOf(name+"_url"):
		return fmt.Errorf("%s needs a key: set one of %s_key_env, %[2]s_key_file and %[2]s_key_command", where, name)
	}
	return nil
}

// checkKeys reports services with more than one source of their key. A default is none that somebody chose.
func (l *Loaded) checkKeys() error {
	var errs []error
	for _, name := range append(setting.ProviderNames(), EmbeddingsName) {
		if l.Service(name) == nil {
			continue
		}
		var set []string
		for _, key := range []string{name + "_key_env", name + "_key_file", name + "_key_command"} {
			if l.From[key] != FromDefault && l.Values()[key] != "" {
				set = append(set, key)
			}
		}
		if len(set) > 1 {
			errs = append(errs, fmt.Errorf("%s are set together: a key comes from one of them", strings.Join(set, " and ")))
		}
	}
	return errors.Join(errs...)
}

// keySource is where the key of a service comes from; nowhere where none is sent.
func (l *Loaded) keySource(name string) model.KeySource {
	s, from := l.Service(name), model.KeySource{Getenv: l.Getenv}
	command, _ := splitCommand(s.KeyCommand) // it was checked when it was set
	switch {
	case len(command) > 0:
		from.Command = command
	case s.KeyFile != "":
		from.File = s.KeyFile
	case name == openai.Name && l.From[name+"_key_env"] == FromDefault && IsLoopbackURL(s.URL):
	default:
		from.Env = s.KeyEnv
	}
	return from
}

func isNowhere(k model.KeySource) bool { return k.Env == "" && k.File == "" && len(k.Command) == 0 }

// IsLoopbackURL reports whether no other machine is asked at address.
func IsLoopbackURL(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	return isThisMachine(u.Hostname())
}

// isThisMachine reports whether host is this machine, by its name or an address that no other can reach.
func isThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// standardOf is the default of a key.
func standardOf(key string) string {
	all := new(Config).Settings()
	i := slices.IndexFunc(all, func(s Setting) bool { return s.Key == key })
	return all[i].Standard
}

// ErrNoPlayback is a choice of the provider playback without a word of what it shall play.
var ErrNoPlayback = errors.New("needs playback_file, the absolute path of what it plays")

// checkTogether reports settings that are good one by one and not together.
func (l *Loaded) checkTogether() error {
	_, err := l.LoadMode()
	return errors.Join(l.checkChoice(), l.checkKeys(), l.checkEmbeddings(), err)
}

// checkEmbeddings reports what is set of vectors and does not go together.
func (l *Loaded) checkEmbeddings() error {
	if l.Embeddings.Endpoint.URL != "" && l.Embeddings.Model == "" {
		return errors.New("embeddings_url needs embeddings_model, the model that is asked there")
	}
	return nil
}
