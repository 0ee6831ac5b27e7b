package observer

// Mode says what an observer is to record and how: the types of observations, the concepts that may stand beside them,
// and what a model is told. It is data: prompts show it, Parse is given its types, and views filter by its ids. How an
// output looks is no part of it: that is the same in every mode.
type Mode struct {
	ID       string // lowercase words joined by dashes
	Name     string // for people
	Types    []Term
	Concepts []Term

	Role     string    // who the observer is and what for
	Record   string    // what is worth recording
	Skip     string    // what is not; never how to say so, which is SkipForm
	Tone     string    // how to write; may be empty
	Summary  string    // what a summary is for
	Language string    // that the observer writes in, for people; empty means English
	Examples []Example // good answers
}

// Term is one word of a mode.
type Term struct {
	ID          string // as it is written in outputs and stored
	Label       string // for people
	Description string // one line: when it fits
}

// Example is a good answer to something seen: exactly one of Observations, Summary and Skip is set.
type Example struct {
	Seen         string        // in a line or two
	Observations []Observation // of a mode's own types and concepts, as Parse gives them back
	Summary      *Summary
	Skip         string // the reason why nothing is worth recording
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
