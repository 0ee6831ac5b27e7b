package main

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/cmemd/cmemd/observer"
	"github.com/cmemd/cmemd/observer/claudecli"
	"github.com/cmemd/cmemd/observer/extractive"
	"github.com/cmemd/cmemd/observer/playback"
)

// clientWait is how long a client may take to say its version: Claude Code takes a tenth of it on a busy machine.
const clientWait = 5 * time.Second

// checkModel looks whether the provider that the settings name could be asked: its key, its client, its address. It asks
// it only where that is wanted.
func checkModel(ctx context.Context, x *examination) []checked {
	if x.settings != nil {
		return []checked{unknown("the settings cannot be used")}
	}
	name := x.config.Provider
	out := x.changed(name)
	p, err := builder{settings: x.config, runs: x.paths.runs}.provider(name)
	switch {
	case err != nil:
		return append(out, wrong("correct it; `cmemd config show` lists what there is", "%s", describe(err)))
	case p.cli != nil:
		out = append(out, lookAtClient(ctx, p.cli))
	case x.config.service(name) != nil:
		out = append(out, lookAtKey(ctx, name, p), lookAtURL(x.config.service(name).URL))
	case name == playback.Name:
		out = append(out, well("plays %s", x.config.PlaybackFile))
	}
	if x.deep && name != extractive.Name {
		out = append(out, x.askModel(ctx, name))
	}
	return out
}

// changed tells that the daemon runs with other settings than there are now.
func (x *examination) changed(name string) []checked {
	if x.status == nil {
		return nil
	}
	keys := []string{"provider", "mode", "language", "output_form"}
	switch {
	case name == claudecli.Name:
		keys = append(keys, "claude_cli_model", "claude_cli_path")
	case x.config.service(name) != nil:
		keys = append(keys, name+"_model", name+"_url", name+"_key_env", name+"_key_file", name+"_key_command")
	}
	now := x.config.values()
	for _, key := range keys {
		if was, told := x.status.Settings[key]; told && was != now[key] {
			return []checked{note("`cmemd stop` and `cmemd start`, for it to take effect", "%s is %s in the settings, and the daemon runs with %s", key, now[key], was)}
		}
	}
	return nil
}

// isFailure reports whether err says what is wrong with a provider, and not that there was no time to see.
func isFailure(err error) bool {
	_, ok := errors.AsType[*observer.Failure](err)
	return ok
}

func lookAtClient(ctx context.Context, cli *claudecli.Client) checked {
	ctx, cancel := context.WithTimeout(ctx, clientWait)
	defer cancel()
	version, err := cli.Version(ctx)
	switch {
	case isFailure(err):
		return wrong("install Claude Code, or set claude_cli_path to where it is", "claude-cli: %s", describe(err))
	case err != nil:
		return wrong("set claude_cli_path to Claude Code", "claude-cli: the client did not say its version within %s", clientWait)
	}
	return well("claude-cli: Claude Code %s, model %s", version, cli.Model())
}

// lookAtKey reads the key, as this command may. The daemon may have been started with other variables.
func lookAtKey(ctx context.Context, name string, p *built) checked {
	if p.key == nil {
		return well("%s: model %s, without a key", name, p.Model())
	}
	_, err := p.key.Get(ctx)
	switch {
	case isFailure(err):
		return wrong("put the key where "+name+"_key_env, "+name+"_key_file or "+name+"_key_command says, for the daemon too", "%s: %s", name, describe(err))
	case err != nil:
		return unknown("%s: whether there is a key", name)
	}
	return well("%s: model %s, with the key from %s", name, p.Model(), p.key)
}

func lookAtURL(address string) checked {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "":
		return wrong("correct it", "the URL is not one") // it was checked when it was set
	case u.Scheme == "http" && !isLoopbackURL(address):
		return note("use https where others could listen", "%s is asked in the clear: what is captured, and the key", u.Host)
	}
	return well("%s is where it is asked", address)
}

// askModel has the provider observe a small batch.
func (x *examination) askModel(ctx context.Context, name string) checked {
	t, err := x.app.tryProvider(ctx, x.config, name)
	if err == nil {
		err = t.err()
	}
	if err != nil {
		return wrong(nextStep(err), "%s", describe(err))
	}
	return well("%s answered in %s: %s", name, time.Duration(t.TookMS)*time.Millisecond, plural(len(t.Parsed.Observations), "observation"))
}
