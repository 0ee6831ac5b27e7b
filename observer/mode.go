package observer

// Mode says what kinds of things an observer may record: the types of observations, and the concepts that may stand
// beside them. It is data: prompts show it, Parse is given its types, and views filter by its ids.
type Mode struct {
	ID       string // lowercase words joined by dashes
	Name     string // for people
	Types    []Term
	Concepts []Term
}

// Term is one word of a mode.
type Term struct {
	ID          string // as it is written in outputs and stored
	Label       string // for people
	Description string // one line: when it fits
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
