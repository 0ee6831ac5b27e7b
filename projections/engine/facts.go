package engine

import (
	"cmp"

	"github.com/cmemd/cmemd/events"
)

// Facts are what a session's latest SessionOpened says of it, as far as views repeat it.
type Facts struct {
	Agent        string `cbor:"1,keyasint,omitempty" json:"agent"`
	AgentSession string `cbor:"2,keyasint,omitempty" json:"agent_session"`
	Project      string `cbor:"3,keyasint,omitempty" json:"project"`
	ProjectRoot  string `cbor:"4,keyasint,omitempty" json:"project_root"`
	GitRoot      string `cbor:"5,keyasint,omitempty" json:"git_root,omitempty"`

	// Root is what ProjectRoot is called here, where that is another machine's folder; see Origin.Root.
	Root string `cbor:"6,keyasint,omitempty" json:"root,omitempty"`
}

// ListedRoot is what the root of the session's project is called here.
func (f Facts) ListedRoot() string { return cmp.Or(f.Root, f.ProjectRoot) }

// FactsTable is the table of facts of a view that keeps them.
func FactsTable() Table[Facts] { return Table[Facts]{Name: "facts"} }

// FactsCache is the facts that a slice works on, by Record.Part.
type FactsCache struct {
	*Cache[events.SessionID, Facts]
}

// NewFactsCache returns the facts of the view of x.
func NewFactsCache(x *Tx) FactsCache {
	return FactsCache{NewCache(x, FactsTable(), SessionKey)}
}

// Learn keeps what r, a SessionOpened, says.
func (c FactsCache) Learn(r *Record) {
	e, ok := PayloadOf[events.SessionOpened](r)
	if !ok {
		return
	}
	known := Facts{Agent: e.Agent, AgentSession: e.AgentSession, Project: e.Project, ProjectRoot: e.ProjectRoot, GitRoot: e.GitRoot}
	if root := r.Root(e.ProjectRoot); root != e.ProjectRoot {
		known.Root = root
	}
	*c.Edit(r.Part) = known
}
