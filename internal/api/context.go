package api

import (
	"path/filepath"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/internal/number"
)

// ContextRoute previews what is injected.
var ContextRoute = Route[ContextQuery, ContextAnswer]{get, "/v1/context", ScopeView, "the memory that a session would be given"}

// ContextQuery asks for the memory that an agent would be given now: at a session's start, or instead at a prompt or before a file is
// read.
type ContextQuery struct {
	Project string `param:"project" help:"its name, or any folder of it; that of this folder, if not given"`
	Cwd     string `param:"cwd"` // absolute; whose project it is, if none is named
	Session string `param:"session" help:"as if for this session"`
	// Empty means startup.
	Source string `param:"source" words:"startup,clear,compact,resume" help:"how the session starts: startup, clear, compact, resume"`
	Prompt string `param:"prompt" help:"at this prompt instead of a start"`
	File   string `param:"file" help:"before this file is read, instead of at a start"` // absolute

	Characters int  `param:"characters" most:"10000" help:"at most; as the daemon is set, if not given"`
	Tokens     int  `param:"tokens" most:"10000" help:"at most, as they are estimated; as the daemon is set, if not given"`
	Explain    bool `param:"explain" help:"say of each row why it is in, and what just missed"`
	// The answer must know this position; 0: whatever is known.
	After events.Position `param:"after" wait:"true"`
}

// Check implements the queries' method of that name.
func (q *ContextQuery) Check(wrong Wrong) {
	if q.Project == "" && q.Cwd == "" && q.Session == "" {
		wrong("project", "give this, cwd or session")
	}
	for name, path := range map[string]string{"cwd": q.Cwd, "file": q.File} {
		if path != "" && !filepath.IsAbs(path) {
			wrong(name, "is no absolute path")
		}
	}
	given := []string{q.Source, q.Prompt, q.File}
	if number.Count(given, func(text string) bool { return text != "" }) > 1 {
		wrong("source", "give one of this, prompt and file")
	}
}

// ContextAnswer is memory as an agent is given it.
type ContextAnswer struct {
	Project string `json:"project"`
	recall.Context
}
