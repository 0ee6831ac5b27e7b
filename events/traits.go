package events

// Traits are what other packages must know of a kind without looking at its struct.
type Traits struct {
	Input   bool // something that a turn must settle, unless its header says Unobserved
	Words   bool // it may hold somebody's words, so that its payload may be erased
	Evolves bool // session.Evolve looks into it; of other kinds the header is enough
	Lineage bool // it tells what was made of what, or what is forgotten: erasure looks into it
	Indexed bool // the search index looks into it
}

// Traits returns the row of k. known is false for a kind that this program has no meaning for.
func (k Kind) Traits() (t Traits, known bool) {
	switch k {
	case KindSessionOpened:
		t = Traits{Evolves: true, Lineage: true, Indexed: true}
	case KindPromptSubmitted:
		t = Traits{Words: true, Indexed: true}
	case KindToolUsed:
		t = Traits{Input: true, Words: true}
	case KindAgentStopped:
		t = Traits{Input: true, Words: true}
	case KindContextCompacted:
		t = Traits{Input: true, Words: true}
	case KindSessionClosed:
	case KindContextInjected:
	case KindTurnStarted:
		t = Traits{Evolves: true, Lineage: true}
	case KindTurnReceived:
		t = Traits{Words: true}
	case KindTurnFailed:
		t = Traits{Words: true, Evolves: true}
	case KindOutputDropped:
		t = Traits{Words: true, Evolves: true}
	case KindOutputSkipped:
		t = Traits{Words: true, Evolves: true}
	case KindObservationParsed:
		t = Traits{Words: true, Lineage: true, Indexed: true}
	case KindSummaryParsed:
		t = Traits{Words: true, Lineage: true, Indexed: true}
	case KindInputsDropped:
		t = Traits{Evolves: true}
	case KindReobserveRequested:
		t = Traits{Evolves: true}
	case KindSessionRespawned:
		t = Traits{Evolves: true}
	case KindSessionQuarantined:
		t = Traits{Evolves: true}
	case KindSessionReleased:
	case KindProviderPaused:
	case KindProviderResumed:
	case KindClaimChecked:
		t = Traits{Words: true, Lineage: true}
	case KindMemorySaved:
		t = Traits{Words: true, Indexed: true}
	case KindMemorySuperseded:
	case KindMemoryForgotten:
		t = Traits{Evolves: true, Lineage: true, Indexed: true}
	case KindSessionFaulted:
	case KindDaemonStarted:
	case KindDaemonStopped:
	case KindDaemonDegraded:
	default:
		return t, false
	}
	return t, true
}

// IsInput reports whether a captured event of kind k is something that a turn must settle, unless its header
// says Unobserved.
func IsInput(k Kind) bool {
	t, _ := k.Traits()
	return t.Input
}
