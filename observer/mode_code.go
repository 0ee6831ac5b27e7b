package observer

// The types of the code mode.
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

// CodeMode is the mode for software work, the default. Its ids are those of the tools that people come from, so that
// imported memories keep their types. Each call returns a value of its own.
func CodeMode() Mode {
	return Mode{
		ID:   "code",
		Name: "Software development",
		Types: []Term{
			{TypeBugfix, "Bug fix", "something was broken and now works"},
			{TypeFeature, "Feature", "something that was not there before"},
			{TypeRefactor, "Refactoring", "code was moved or reshaped and does the same as before"},
			{TypeChange, "Change", "any other change: documentation, configuration, a commit, a rebase"},
			{TypeDiscovery, "Discovery", "something learned about the system; nothing was changed"},
			{TypeDecision, "Decision", "a choice between alternatives, with its reasons"},
			{TypeSecurityAlert, "Security alert", "a weakness that wants attention before work goes on"},
			{TypeSecurityNote, "Security note", "an observation about security that is worth remembering"},
			{TypeSensitive, "Sensitive", "touches secrets or personal data; nothing of them is quoted"},
		},
		Concepts: []Term{
			{ConceptHowItWorks, "How it works", "how a part of the system behaves"},
			{ConceptWhyItExists, "Why it exists", "the reason something is there or is as it is"},
			{ConceptWhatChanged, "What changed", "what is different now"},
			{ConceptProblemSolution, "Problem and solution", "what went wrong and what helped"},
			{ConceptGotcha, "Gotcha", "a trap or an edge case"},
			{ConceptPattern, "Pattern", "an approach that can be used again"},
			{ConceptTradeOff, "Trade-off", "what was given up for what"},
		},
	}
}
