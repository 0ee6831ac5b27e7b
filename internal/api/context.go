package api

import (
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/memory/recall"
)

// ContextQuery asks for the memory that an agent would be given now.
type ContextQuery struct {
	Project string // shown name or root; empty: that of Cwd
	Cwd     string // absolute
	Session string // our id, or the agent's own
	Source  string // startup, clear, compact, resume; empty means startup
	Prompt  string // instead: what would be given at this prompt
	File    string // instead: what would be given before this file is read; absolute
	Explain bool   // say of each row why it is in or out
	After   events.Position

	Characters int // at most; 0 means as the daemon is set
	Tokens     int // at most, estimated; 0 means as the daemon is set
}

// ContextAnswer is memory as an agent is given it.
type ContextAnswer struct {
	Position   events.Position `json:"position"`
	Project    string          `json:"project"`
	Text       string          `json:"text"`              // fenced; empty: there is nothing to give
	IDs        []events.ID     `json:"ids"`               // never null
	Characters int             `json:"characters"`        // of the text
	Tokens     int             `json:"tokens"`            // of the text, estimated
	Explain    []recall.Choice `json:"explain,omitempty"` // every row that was looked at, the worthiest a character first
}
