package config

import (
	"slices"
	"strings"
	"unicode"

	"github.com/cmemd/cmemd/internal/capture/privacy"
	"github.com/cmemd/cmemd/internal/setting"
)

// captureSettings is the part of the table that says what is not recorded.
func captureSettings(c *privacy.Switches) []setting.Row {
	return []setting.Row{
		nameList(&c.SkipTools, privacy.KeySkipTools, "tools whose uses are not recorded, like WebSearch or mcp__mail__*"),
		nameList(&c.SkipAgents, privacy.KeySkipAgents, "agents of which nothing is recorded"),
		nameList(&c.Ignore, privacy.KeyIgnore, "paths of which nothing is recorded, as a .gitignore writes them, from / or ~/ on; see also .cmemdignore"),
		nameList(&c.Refused, privacy.KeyRefused, "ignore files that count for nothing; `cmemd ignore refuse` writes them"),
	}
}

// maxNames is how many names one such setting may have, and maxNameBytes how long one may be.
const maxNames, maxNameBytes = 200, 1000

// nameList is a setting of any texts, with commas between them.
func nameList(target *[]string, key, doc string) setting.Row {
	return setting.List(target, key, "none or more names, none of them empty", doc, func(list []string) bool {
		return len(list) <= maxNames && !slices.ContainsFunc(list, func(n string) bool {
			return n == "" || len(n) > maxNameBytes || strings.ContainsFunc(n, unicode.IsControl)
		})
	})
}
