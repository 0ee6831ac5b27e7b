package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/agents/known"
	"github.com/cmemd/cmemd/internal/agents/watch"
	"github.com/cmemd/cmemd/internal/setting"
)

// WatchSettings is which transcripts are followed.
type WatchSettings struct {
	Watch        []string      // AGENT, or AGENT=PATTERN
	WatchBacklog time.Duration // how old what is there already may be
}

// settings is the part of the table that says which transcripts are followed.
func (c *WatchSettings) settings() []setting.Row {
	return []setting.Row{
		setting.List(&c.Watch, "watch",
			"names of these agents, each alone where its folder is known, or AGENT=PATTERN: an absolute folder or a pattern below one, not below / itself",
			"agents without hooks whose transcripts are followed: "+strings.Join(followable(), ", ")+", each alone or with a place: AGENT=FOLDER",
			func(list []string) bool {
				return !slices.ContainsFunc(list, func(item string) bool {
					_, err := watchRule(item, "/home/me", func(string) string { return "" })
					return err != nil
				})
			}),
		setting.Duration(&c.WatchBacklog, "watch_backlog", 24*time.Hour, time.Minute, 10*365*24*time.Hour, "transcripts that changed longer ago, and before the daemon looked last, are left alone until they grow"),
	}
}

// followable lists the agents whose transcripts can be read.
func followable() (names []string) {
	for _, name := range agents.Names() {
		if a, err := agents.ByName(name); err == nil {
			if _, ok := a.(agents.Historian); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// errNoFolder is an agent whose transcripts have no folder that is known.
var errNoFolder = errors.New("its folder is not known: write AGENT=FOLDER")

// watchRule reads AGENT or AGENT=PATTERN, for a person whose folder is home.
func watchRule(item, home string, getenv func(string) string) (watch.Rule, error) {
	agent, pattern, placed := strings.Cut(item, "=")
	if !slices.Contains(followable(), agent) {
		return watch.Rule{}, fmt.Errorf("%q is no agent whose transcripts can be read", agent)
	}
	if !placed {
		a, _ := known.ByName(agent)
		if pattern = a.Followed(runtime.GOOS, home, getenv); pattern == "" {
			return watch.Rule{}, fmt.Errorf("%s: %w", agent, errNoFolder)
		}
	}
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		pattern = filepath.Join(home, rest)
	}
	return watch.NewRule(agent, pattern)
}

// WatchRules are the rules in force.
func (l *Loaded) WatchRules() (rules []watch.Rule, err error) {
	if len(l.Watch) == 0 {
		return nil, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	for _, item := range l.Watch {
		r, err := watchRule(item, home, l.Getenv)
		if err != nil {
			return nil, fmt.Errorf("the setting watch: %w", err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}
