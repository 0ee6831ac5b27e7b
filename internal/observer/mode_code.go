package observer

import "fmt"

// The types of the code mode, as modes/code.toml has them, for those who record without being told by a model.
const (
	TypeBugfix        = "bugfix"
	TypeFeature       = "feature"
	TypeRefactor      = "refactor"
	TypeChange        = "change"
	TypeDiscovery     = "discovery"
	TypeDecision      = "decision"
	TypeSecurityAlert = "security_alert"
	TypeSecurityNote  = "security_note"
	TypeSensitive     = "sensitive"
)

// The concepts of the code mode.
const (
	ConceptHowItWorks      = "how-it-works"
	ConceptWhyItExists     = "why-it-exists"
	ConceptWhatChanged     = "what-changed"
	ConceptProblemSolution = "problem-solution"
	ConceptGotcha          = "gotcha"
	ConceptPattern         = "pattern"
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
