package config

import (
	"slices"
	"strings"
	"unicode"

	"github.com/cmemd/cmemd/internal/capture/privacy"
	"github.com/cmemd/cmemd/internal/setting"
)

// captureSettings is the part of the table that says what is not recorded. Hooks read these keys too, by themselves, before
// they keep what no daemon took: see relay.Switches.
func captureSettings() []setting.Row[privacy.Switches] {
	return []setting.Row[privacy.Switches]{
		names(privacy.KeySkipTools, "tools whose uses are not recorded, like WebSearch or mcp__mail__*",
			func(c *privacy.Switches) *[]string { return &c.SkipTools }),
		names(privacy.KeySkipAgents, "agents of which nothing is recorded",
			func(c *privacy.Switches) *[]string { return &c.SkipAgents }),
		names(privacy.KeyIgnore, "paths of which nothing is recorded, as a .gitignore writes them, from / or ~/ on; see also .cmemdignore",
			func(c *privacy.Switches) *[]string { return &c.Ignore }),
	}
}

// maxNames is how many names one such setting may have, and maxNameBytes how long one may be.
const maxNames, maxNameBytes = 200, 1000

// names is a setting of any texts, with commas between them.
func names(key, doc string, at func(*privacy.Switches) *[]string) setting.Row[privacy.Switches] {
	return setting.List(key, "none or more names, none of them empty", doc, func(list []string) bool {
		return len(list) <= maxNames && !slices.ContainsFunc(list, func(n string) bool {
			return n == "" || len(n) > maxNameBytes || strings.ContainsFunc(n, unicode.IsControl)
		})
	}, at)
}
