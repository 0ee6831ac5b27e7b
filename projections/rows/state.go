package rows

import (
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// State is something for which a person may want to look at a row. A row may be in several.
type State string

// The states.
const (
	Doubtful      State = "flagged"    // as Row.Flagged
	Absent        State = "absent"     // makes a claim that is not true now, whatever it was
	External      State = "outside"    // as Row.External
	Repeated      State = "repeated"   // it stands for others that say the same
	Replaced      State = "superseded" // something took its place: it is not listed
	PendingForget State = "asked"      // an agent asked to forget it: it is not listed
)

// AllStates lists them.
func AllStates() []State {
	return []State{Doubtful, Absent, External, Repeated, Replaced, PendingForget}
}

// States are those that the row is in.
func (r Row) States() (in []State) {
	absent := slices.ContainsFunc(r.Verdicts(), func(v Verdict) bool { return v.Now == events.Absent })
	is := map[State]bool{
		Doubtful: r.Flagged && r.Listed(), Absent: absent && r.Listed(), External: r.External() && r.Listed(),
		Repeated: r.Count > 1 && r.Listed(), Replaced: (r.Superseded || r.Outdated) && r.FoldedInto == events.ID{},
		PendingForget: len(r.ForgetRequests) > 0,
	}
	for _, s := range AllStates() {
		if is[s] && r.Kind != "" && !r.Forgotten {
			in = append(in, s)
		}
	}
	return in
}

// stateListID names the list of what is in a state, of a project's root or, if that is empty, of all: no root begins with a line feed.
func stateListID(s State, root string) engine.ProjectID {
	return engine.ProjectIDOf("\n" + string(s) + "\n" + root)
}

// stateLists are the lists of its states that a row is in.
func stateLists(row Row) (lists []engine.ProjectID) {
	for _, s := range row.States() {
		lists = append(lists, stateListID(s, ""))
		if row.ProjectRoot != "" {
			lists = append(lists, stateListID(s, row.ProjectRoot))
		}
	}
	return lists
}
