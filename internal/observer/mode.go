package observer

// Mode says what an observer is to record and how: the types of observations, the concepts that may stand beside them,
// and what a model is told. It is data: prompts show it, Parse is given its types, and views filter by its ids. How an
// output looks is no part of it: that is the same in every mode.
type Mode struct {
	ID       string    `toml:"-"`        // lowercase words joined by dashes
	Name     string    `toml:"name"`     // for people
	Role     string    `toml:"role"`     // who the observer is and what for
	Record   string    `toml:"record"`   // what is worth recording
	Skip     string    `toml:"skip"`     // what is not; never how to say so, which is SkipForm
	Tone     string    `toml:"tone"`     // how to write; may be empty
	Summary  string    `toml:"summary"`  // what a summary is for
	Language string    `toml:"language"` // that the observer writes in, for people; empty means English
	Types    []Term    `toml:"types"`
	Concepts []Term    `toml:"concepts"`
	Examples []Example `toml:"examples"` // good answers
}

// Term is one word of a mode.
type Term struct {
	ID          string `toml:"id"`          // as it is written in outputs and stored
	Label       string `toml:"label"`       // for people
	Description string `toml:"description"` // one line: when it fits
}

// Example is a good answer to something seen: exactly one of Observations, Summary and Skip is set.
type Example struct {
	Seen         string        `toml:"seen"`         // in a line or two
	Observations []Observation `toml:"observations"` // of a mode's own types and concepts, as Parse gives them back
	Summary      *Summary      `toml:"summary"`
	Skip         string        `toml:"skip"` // the reason why nothing is worth recording
}

// TypeIDs lists the ids of the mode's types in their order, as Parse wants them. The slice is the caller's.
func (m Mode) TypeIDs() Types { return ids(m.Types) }

// ConceptIDs lists the ids of the mode's concepts in their order. The slice is the caller's.
func (m Mode) ConceptIDs() []string { return ids(m.Concepts) }

func ids(terms []Term) []string {
	list := make([]string, len(terms))
	for i, t := range terms {
		list[i] = t.ID
	}
	return list
}
