package config

import (
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/server"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/internal/setting"
	"github.com/cmemd/cmemd/projections/index"
)

// ContextSettings is the settings of what agents are given.
type ContextSettings struct {
	ContextChars   int
	ContextTokens  int
	ContextPrompts string
	ContextScore   int
	ContextFiles   string
	SearchRecency  int
	Preferences    string
	MCPProjects    []string
}

// KeyMCPProjects is the setting of what agents may reach by their tools. `cmemd install` asks for it.
const KeyMCPProjects = "mcp_projects"

// The words of a switch.
const On, off = "on", "off"

// settings is the part of the table that says what agents are given.
func (c *ContextSettings) settings() []setting.Row {
	return []setting.Row{
		setting.Number(&c.ContextChars, "context_chars", recall.DefaultCharacters, 500, recall.MaxCharacters, "characters of memory that a starting session is given, at most"),
		setting.Number(&c.ContextTokens, "context_tokens", 0, 0, recall.MaxCharacters, "the same in tokens, estimated. 0: only context_chars counts"),
		setting.Word(&c.ContextPrompts, "context_prompts", off, []string{off, On}, "give a little memory at prompts that it bears on"),
		setting.Number(&c.ContextScore, "context_prompt_score", recall.DefaultPromptScore, 1, 50, "words of a prompt that memory must share to be given there; names of code count twice"),
		setting.Word(&c.ContextFiles, "context_files", off, []string{off, On}, "give a little memory of a file that is about to be read"),
		setting.Word(&c.Preferences, "preferences", On, []string{On, off}, "keep what you say of how to work (\"always use pnpm\"), and tell later sessions first"),
		nameList(&c.MCPProjects, KeyMCPProjects, "projects that agents may read and write by their tools beside the one that they work in: folders or names; \"*\" is all"),
		setting.Number(&c.SearchRecency, "search_recency", standardRecency, 0, api.Most(api.SearchQuery{}, "recency"), "per cent that the newest is worth above the very old in a search; 0: age does not count"),
	}
}

// Recency is how much the newest counts above the very old in a search, as recall has it.
func (c ContextSettings) Recency() float64 {
	return fractionOrOff(c.SearchRecency)
}

// fractionOrOff is a number of per cent as a fraction, or for 0 what turns it off: a package takes 0 for its own standard.
func fractionOrOff(percent int) float64 {
	if percent == 0 {
		return -1
	}
	return float64(percent) / 100
}

// Briefs says when memory is given beside the start of a session.
func (c ContextSettings) Briefs() server.Briefs {
	return server.Briefs{Prompts: c.ContextPrompts == On, Score: c.ContextScore, Files: c.ContextFiles == On}
}

// standardRecency is how much the newest is worth above the very old, in per cent, where nobody says otherwise.
const standardRecency = int(100 * index.DefaultRecency)
