package doctor

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/providers"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/claudecli"
	"github.com/cmemd/cmemd/internal/observer/playback"
	"github.com/cmemd/cmemd/internal/setting"
)

// clientWait is how long a client may take to say its version: Claude Code takes a tenth of it on a busy machine.
const clientWait = 5 * time.Second

// checkModels looks whether those whom the settings name could be asked: their keys, clients, addresses. It asks them only
// where that is wanted.
func checkModels(ctx context.Context, x *examination) []finding {
	if x.settings != nil {
		return []finding{unknown("the settings cannot be used")}
	}
	out := x.changed()
	for _, who := range x.config.Configured() {
		out = append(out, x.checkModel(ctx, who)...)
	}
	for _, name := range x.config.ConfiguredProviders() {
		if s := x.config.Service(name); s != nil {
			out = append(out, checkURL(s.URL))
		}
	}
	return out
}

func (x *examination) checkModel(ctx context.Context, who setting.Asked) (out []finding) {
	p, err := providers.Builder{Settings: x.config, Runs: x.paths.Runs}.Make(who)
	switch {
	case err != nil:
		return []finding{faulty("correct it; `cmemd config show --all` lists what there is", "%s", terminal.Describe(err))}
	case p.CLI != nil:
		out = append(out, x.notProbed(checkClient(ctx, p.CLI)))
	case x.config.Service(who.Name) != nil:
		out = append(out, x.notProbed(checkKey(ctx, who.Name, p)))
	case who.Name == playback.Name:
		out = append(out, healthy("plays %s", x.config.PlaybackFile))
	default:
		out = append(out, healthy("%s works here, without a model", who.Name))
	}
	if x.deep && !setting.IsFree(who.Name) {
		out = append(out, x.askModel(ctx, who))
	}
	return out
}

// notProbed is c with a note that nobody was asked: it does not say whether whoever is there would answer.
func (x *examination) notProbed(c finding) finding {
	if c.State == stateOK && !x.deep {
		c.Detail += "; it was not asked: `cmemd doctor --deep` does"
	}
	return c
}

// changed tells that the daemon runs with other settings than there are now.
func (x *examination) changed() []finding {
	if x.status == nil {
		return nil
	}
	var out []finding
	for _, s := range x.config.Settings() {
		if was, known := x.status.Settings[s.Key]; known && was != s.Get() {
			out = append(out, note("`cmemd restart`, for it to take effect", "%s is %q in the settings, and the daemon runs with %q", s.Key, s.Get(), was))
		}
	}
	return out
}

// isModelFailure reports whether err says what is wrong with a provider, and not that there was no time to see.
func isModelFailure(err error) bool {
	_, ok := errors.AsType[*observer.Failure](err)
	return ok
}

func checkClient(ctx context.Context, cli *claudecli.Client) finding {
	ctx, cancel := context.WithTimeout(ctx, clientWait)
	defer cancel()
	version, err := cli.Version(ctx)
	switch {
	case isModelFailure(err):
		return faulty("install Claude Code, or set claude_cli_path to where it is", "claude-cli: %s", terminal.Describe(err))
	case err != nil:
		return faulty("set claude_cli_path to Claude Code", "claude-cli: the client did not say its version within %s", clientWait)
	}
	return healthy("claude-cli: Claude Code %s, model %s", version, cli.Model())
}

// checkKey reads the key, as this command may. The daemon may have been started with other variables.
func checkKey(ctx context.Context, name string, p *providers.Built) finding {
	if p.Key == nil {
		return healthy("%s: model %s, without a key", name, p.Model())
	}
	_, err := p.Key.Get(ctx)
	switch {
	case isModelFailure(err):
		return faulty("put the key where "+name+"_key_env, "+name+"_key_file or "+name+"_key_command says, for the daemon too", "%s: %s", name, terminal.Describe(err))
	case err != nil:
		return unknown("%s: whether there is a key", name)
	}
	return healthy("%s: model %s, with the key from %s", name, p.Model(), p.Key)
}

func checkURL(address string) finding {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "":
		return faulty("correct it", "the URL is not one") // it was checked when it was set
	case u.Scheme == "http" && !config.IsLoopbackURL(address):
		return note("use https where others could listen", "%s is asked in the clear: what is captured, and the key", u.Host)
	}
	return healthy("%s is where it is asked", address)
}

// askModel has a provider observe a small batch, unless the daemon says that nothing may be spent today.
func (x *examination) askModel(ctx context.Context, who setting.Asked) finding {
	if limit := x.daySpent(); limit != "" {
		return note("wait, or raise the budget: `cmemd config set "+limit+" ...`",
			"%s was not asked: %s is used up", terminal.NameOfModel(who.Name, x.config.As(who).ModelOf(who.Name)), limit)
	}
	t, err := providers.Try(ctx, x.app, x.config, who)
	if err == nil {
		err = t.Err()
	}
	if err != nil {
		return faulty(terminal.NextStep(err), "%s", terminal.Describe(err))
	}
	return healthy("%s answered in %s: %s", terminal.NameOfModel(t.Provider, t.Model), time.Duration(t.TookMS)*time.Millisecond, number.Plural(len(t.Parsed.Observations), "observation"))
}

// daySpent is the limit of the day that the daemon says is reached; empty: none is, or no daemon says so.
func (x *examination) daySpent() string {
	if x.status == nil {
		return ""
	}
	return x.status.Actors.Budget.DayLimit()
}
