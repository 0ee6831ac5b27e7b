package observer

import "fmt"

// Types of the code mode, as modes/code.toml has them, that are recorded without a model.
const (
	TypeBugfix    = "bugfix"
	TypeFeature   = "feature"
	TypeRefactor  = "refactor"
	TypeChange    = "change"
	TypeDiscovery = "discovery"
	TypeDecision  = "decision"
)

// Concepts of the code mode that are recorded without a model.
const (
	ConceptHowItWorks      = "how-it-works"
	ConceptWhatChanged     = "what-changed"
	ConceptProblemSolution = "problem-solution"
	ConceptGotcha          = "gotcha"
	ConceptTradeOff        = "trade-off"
)

// codeMode is the id of the default mode.
const codeMode = "code"

// CodeMode is the mode for software work, the default. Its ids are those of the tools that people come from, so that
// imported memories keep their types. Each call reads it anew, in some 0.2 ms, and returns a value of its own.
func CodeMode() Mode {
	m, err := LoadMode(nil, codeMode)
	if err != nil {
		panic(fmt.Sprintf("the built-in mode is broken: %v", err)) // a test reads every built-in mode
	}
	return m
}
