package engine

import "github.com/cmemd/cmemd/events"

// Facts are what a session's latest SessionOpened says of it, as far as views repeat it.
type Facts struct {
	Agent        string `cbor:"1,keyasint,omitempty" json:"agent"`
	AgentSession string `cbor:"2,keyasint,omitempty" json:"agent_session"`
	Project      string `cbor:"3,keyasint,omitempty" json:"project"`
	ProjectRoot  string `cbor:"4,keyasint,omitempty" json:"project_root"`
	GitRoot      string `cbor:"5,keyasint,omitempty" json:"git_root,omitempty"`
}

// FactsTable is the table of facts of a view that keeps them.
func FactsTable() Table[Facts] { return Table[Facts]{Name: "facts"} }

// FactsCache is the facts that a slice works on.
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
	*c.Edit(r.Session) = Facts{
		Agent: e.Agent, AgentSession: e.AgentSession, Project: e.Project, ProjectRoot: e.ProjectRoot, GitRoot: e.GitRoot,
	}
}
