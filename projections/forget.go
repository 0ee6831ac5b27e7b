package projections

import (
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// Forgettable reports whether r's payload may be erased from the log by name of a MemoryForgotten. Those may that carry
// somebody's words. The rest is structure, as is that an answer was blank: without it the views could not say any more
// what was settled by what, and a rebuilt view would differ from a live one.
func Forgettable(r events.Record) bool {
	if r.Kind == events.KindOutputSkipped {
		e, err := r.Event()
		skipped, ok := e.(events.OutputSkipped)
		return err != nil || !ok || skipped.Reason != events.ReasonEmpty
	}
	return engine.CarriesWords(r.Kind)
}

// facts are what a session's latest SessionOpened says of it, as far as rows repeat it.
type facts struct {
	Agent        string `cbor:"1,keyasint,omitempty" json:"agent"`
	AgentSession string `cbor:"2,keyasint,omitempty" json:"agent_session"`
	Project      string `cbor:"3,keyasint,omitempty" json:"project"`
	ProjectRoot  string `cbor:"4,keyasint,omitempty" json:"project_root"`
	GitRoot      string `cbor:"5,keyasint,omitempty" json:"git_root,omitempty"`
}

func factsTable() engine.Table[facts] { return engine.Table[facts]{Name: "facts"} }

// learnFacts keeps what r, a SessionOpened, says.
func learnFacts(known *engine.Cache[events.SessionID, facts], r *engine.Record) error {
	e, ok, err := engine.PayloadOf[events.SessionOpened](r)
	if err != nil || !ok {
		return err
	}
	f, err := known.Edit(r.Session)
	if err != nil {
		return err
	}
	*f = facts{
		Agent: e.Agent, AgentSession: e.AgentSession, Project: e.Project, ProjectRoot: e.ProjectRoot, GitRoot: e.GitRoot,
	}
	return nil
}
