package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cmemd/cmemd/api"
	"github.com/cmemd/cmemd/hooks"
	"github.com/cmemd/cmemd/install"
)

// checkAgents looks whether the agents on this machine have cmemd in them, and when each of them last reported something:
// hooks that stand in a file and are never called look like hooks that work.
func checkAgents(ctx context.Context, x *examination) []checked {
	seen, known := x.lastSeen(ctx)
	f, err := x.app.newInstallation(installCommand{remove: true}) // which asks nothing of how cmemd is called
	if err != nil {
		return []checked{unknown("%v", err)}
	}
	var out []checked
	for _, a := range install.Agents() {
		if one, ok := x.checkAgent(a, f, seen[a.Name], known); ok {
			out = append(out, one)
		}
	}
	if trust, ok := x.checkTrust(ctx, f.store); ok {
		out = append(out, trust)
	}
	if len(out) == 0 {
		return []checked{note("install one; `cmemd install --help` lists those that are known", "no agent is on this machine")}
	}
	return out
}

// lastSeen is when each agent last reported something, by its name; known is false where no daemon tells.
func (x *examination) lastSeen(ctx context.Context) (seen map[string]time.Time, known bool) {
	if x.status == nil {
		return nil, false
	}
	seen = map[string]time.Time{}
	err := x.app.query(ctx, func(ctx context.Context, client *api.Client) error {
		for _, agent := range hooks.Names() {
			got, err := client.Sessions(ctx, api.SessionsQuery{Agent: agent, Limit: 1})
			if err != nil {
				return err
			}
			if len(got.Sessions) > 0 {
				seen[agent] = got.Sessions[0].LastAt
			}
		}
		return nil
	})
	return seen, err == nil
}

// checkAgent says how one agent is; ok is false for one that is not there and was never seen.
func (x *examination) checkAgent(a install.Agent, in *installation, last time.Time, known bool) (c checked, ok bool) {
	mend := "`cmemd install " + a.Name + "`"
	r, err := in.store.Load(a.Name)
	switch {
	case err != nil:
		return wrong(mend, "%s: what was put into it is not known: %v", a.Title, err), true
	case r == nil && !last.IsZero():
		return well("%s: last reported %s, by hooks that `cmemd install` did not make", a.Title, x.ago(last)), true
	case r == nil && !a.Found(in.machine):
		return c, false
	case r == nil:
		return note(mend, "%s is on this machine, and cmemd is not in it", a.Title), true
	}
	if missing := withoutOurs(r); missing != "" {
		return wrong(mend, "%s: %s does not name cmemd any more", a.Title, missing), true
	}
	says := fmt.Sprintf("%s: cmemd is in it (%s)", a.Title, r.Method)
	switch {
	case !a.Captures:
		return well("%s, for memory as tools: it reports nothing", says), true
	case !known:
		return well("%s; when it last reported, a daemon would know", says), true
	case last.IsZero():
		return note("start a session of it; where that changes nothing, look at its own list of hooks", "%s, and it never reported anything", says), true
	}
	return well("%s, last reported %s", says, x.ago(last)), true
}

func (x *examination) ago(at time.Time) string {
	return fmt.Sprintf("%s ago", x.now.Sub(at).Round(time.Second))
}

// maxAgentFile is how much of an agent's file of settings is looked at.
const maxAgentFile = 16 << 20

// withoutOurs is the first file that once got cmemd's entries and has none; empty: all have.
func withoutOurs(r *install.Record) string {
	for _, f := range r.Files {
		if f.After == "" {
			continue
		}
		info, err := os.Stat(f.Path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxAgentFile {
			return f.Path
		}
		text, err := os.ReadFile(f.Path)
		if err != nil || !bytes.Contains(text, []byte("cmemd")) {
			return f.Path
		}
	}
	return ""
}

// askTrustWait is how long Codex is waited for: doctor is to end soon.
const askTrustWait = 5 * time.Second

// checkTrust says which of its hooks Codex does not run; ok is false where it has none.
func (x *examination) checkTrust(ctx context.Context, store install.Store) (c checked, ok bool) {
	if r, err := store.Load("codex"); err != nil || r == nil {
		return c, false
	}
	ctx, cancel := context.WithTimeout(ctx, askTrustWait)
	defer cancel()
	trust, err := x.app.codexTrust(ctx)
	if err != nil {
		return unknown("which hooks Codex trusts: %v", err), true
	}
	var refused []string
	for _, t := range trust {
		if !t.Trusted() {
			refused = append(refused, t.Event)
		}
	}
	if len(refused) > 0 {
		return wrong("start codex, and trust them with /hooks", "Codex does not run %s of cmemd (%s): they are not trusted",
			plural(len(refused), "hook"), strings.Join(refused, ", ")), true
	}
	return well("Codex trusts %s of cmemd", plural(len(trust), "hook")), true
}

// shortHome is a text with ~ in the place of the person's home, whose name is often the person's.
func shortHome(text string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == string(filepath.Separator) || home == "" {
		return text
	}
	return strings.ReplaceAll(text, home, "~")
}
