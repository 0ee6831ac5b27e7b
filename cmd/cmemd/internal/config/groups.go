package config

import "slices"

// A Group is the settings of one subject.
type Group struct {
	Name     string // for people
	Settings []Setting
}

// Groups is the table of all keys, over the fields of c, by subject. Those by which turns are decided come from package setting, which
// replay reads too.
func (c *Config) Groups() []Group {
	return []Group{
		{"Who observes, and for how much", slices.Concat(c.ProviderRows(), c.ChoiceRows())},
		{"What is recorded", slices.Concat(captureSettings(&c.Switches), c.WatchSettings.settings())},
		{"What agents are given", c.ContextSettings.settings()},
		{"How services are asked", slices.Concat(c.Services.settings(&c.InForce), c.Reach.settings())},
		{"Search by meaning", c.Embeddings.settings()},
		{"When an observer is asked, and when it is held", slices.Concat(c.TurnRows(), c.SuperviseRows())},
		{"The daemon and its files", slices.Concat(c.daemonSettings(), c.storeSettings())},
	}
}

// Settings is all of Groups.
func (c *Config) Settings() (all []Setting) {
	for _, g := range c.Groups() {
		all = append(all, g.Settings...)
	}
	return all
}

// commonKeys are the settings that people change, in the order in which they matter; `config show` begins with them.
var commonKeys = [...]string{
	"provider", "fallbacks", "mode", "language", "budget_usd_day", "preferences", "context_chars", "context_prompts", "capture_ignore",
	KeyMCPProjects, "retention_days", "listen",
}

// IsCommon reports whether a setting is one that people change.
func IsCommon(s Setting) bool { return slices.Contains(commonKeys[:], s.Key) }

// NeedsInstall reports whether `cmemd install` writes a setting's value into the settings of agents too.
func NeedsInstall(key string) bool { return key == "listen" }
