package config

import (
	"slices"
	"strings"
	"unicode"

	"github.com/cmemd/cmemd/internal/capture/privacy"
)

// captureSettings is the part of the table that says what is not recorded. Hooks read these keys too, by themselves, before
// they keep what no daemon took: see relay.Switches.
func captureSettings() []Setting {
	return []Setting{
		namesKey(privacy.KeySkipTools, "tools whose uses are not recorded, like WebSearch or mcp__mail__*",
			func(c *Config) *[]string { return &c.SkipTools }),
		namesKey(privacy.KeySkipAgents, "agents of which nothing is recorded",
			func(c *Config) *[]string { return &c.SkipAgents }),
		namesKey(privacy.KeyIgnore, "paths of which nothing is recorded, as a .gitignore writes them, from / or ~/ on; see also .cmemdignore",
			func(c *Config) *[]string { return &c.Ignore }),
	}
}

// maxNames is how many names one such setting may have, and maxNameBytes how long one may be.
const maxNames, maxNameBytes = 200, 1000

// namesKey is a setting of any texts, with commas between them.
func namesKey(key, doc string, at func(*Config) *[]string) Setting {
	return Setting{
		Key: key, Kind: kindList, Doc: doc, Limits: "none or more names, none of them empty", open: true,
		Set: func(c *Config, text string) bool {
			*at(c) = splitList(text)
			return len(*at(c)) <= maxNames && !slices.ContainsFunc(*at(c), func(n string) bool {
				return n == "" || len(n) > maxNameBytes || strings.ContainsFunc(n, unicode.IsControl)
			})
		},
		Get: func(c *Config) string { return strings.Join(*at(c), ", ") },
	}
}
