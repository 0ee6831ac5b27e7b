package events

import "github.com/fxamacker/cbor/v2"

// Traits are what other packages must know of a kind without looking at its struct.
type Traits struct {
	Input   bool // something that a turn must settle, unless its header says Unobserved
	Words   bool // it may hold somebody's words, so that its payload may be erased
	Evolves bool // session.Evolve looks into it; of other kinds the header is enough
	Lineage bool // it tells what was made of what, or what is forgotten: erasure looks into it
	Indexed bool // the search index looks into it
}

// A knownKind is what this program knows of a kind: its traits, and the decoder of each schema that it was released with.
type knownKind struct {
	Traits
	name  Kind
	forms []decodeFunc // schema 1 comes first
}

type decodeFunc func(cbor.DecMode, []byte) (Event, error)

func decodeAs[E Event](dec cbor.DecMode, body []byte) (Event, error) {
	var e E
	if err := dec.Unmarshal(body, &e); err != nil {
		return nil, err
	}
	return e, nil
}

// released is the row of a kind that has one schema so far.
func released[E Event](t Traits) knownKind {
	var e E
	return knownKind{Traits: t, name: e.kind(), forms: []decodeFunc{decodeAs[E]}}
}

// kinds is the one place that knows all kinds: a kind without a line here cannot be read back, and a test says so. It does not
// change.
var kinds = map[Kind]knownKind{
	KindSessionOpened:      released[SessionOpened](Traits{Evolves: true, Lineage: true, Indexed: true}),
	KindPromptSubmitted:    released[PromptSubmitted](Traits{Words: true, Indexed: true}),
	KindToolUsed:           released[ToolUsed](Traits{Input: true, Words: true}),
	KindAgentStopped:       released[AgentStopped](Traits{Input: true, Words: true}),
	KindContextCompacted:   released[ContextCompacted](Traits{Input: true, Words: true}),
	KindSessionClosed:      released[SessionClosed](Traits{}),
	KindContextInjected:    released[ContextInjected](Traits{}),
	KindTurnStarted:        released[TurnStarted](Traits{Evolves: true, Lineage: true}),
	KindTurnReceived:       released[TurnReceived](Traits{Words: true}),
	KindTurnFailed:         released[TurnFailed](Traits{Words: true, Evolves: true}),
	KindOutputDropped:      released[OutputDropped](Traits{Words: true, Evolves: true}),
	KindOutputSkipped:      released[OutputSkipped](Traits{Words: true, Evolves: true}),
	KindObservationParsed:  released[ObservationParsed](Traits{Words: true, Lineage: true, Indexed: true}),
	KindSummaryParsed:      released[SummaryParsed](Traits{Words: true, Lineage: true, Indexed: true}),
	KindInputsDropped:      released[InputsDropped](Traits{Evolves: true}),
	KindReobserveRequested: released[ReobserveRequested](Traits{Evolves: true}),
	KindSessionRespawned:   released[SessionRespawned](Traits{Evolves: true}),
	KindSessionQuarantined: released[SessionQuarantined](Traits{Evolves: true}),
	KindSessionReleased:    released[SessionReleased](Traits{}),
	KindProviderPaused:     released[ProviderPaused](Traits{}),
	KindProviderResumed:    released[ProviderResumed](Traits{}),
	KindClaimChecked:       released[ClaimChecked](Traits{Words: true, Lineage: true}),
	KindMemorySaved:        released[MemorySaved](Traits{Words: true, Indexed: true}),
	KindMemorySuperseded:   released[MemorySuperseded](Traits{}),
	KindMemoryForgotten:    released[MemoryForgotten](Traits{Evolves: true, Lineage: true, Indexed: true}),
	KindSessionFaulted:     released[SessionFaulted](Traits{}),
	KindDaemonStarted:      released[DaemonStarted](Traits{}),
	KindDaemonStopped:      released[DaemonStopped](Traits{}),
	KindDaemonDegraded:     released[DaemonDegraded](Traits{}),
}

// nameOf is the kind of a name, without a copy of that where it is known.
func nameOf(b []byte) Kind {
	if row, ok := kinds[Kind(b)]; ok {
		return row.name
	}
	return Kind(b)
}

// schemaOf is the schema in which e is encoded: the newest of its kind.
func schemaOf(e Event) uint16 { return uint16(len(kinds[e.kind()].forms)) }

// Traits returns the row of k. known is false for a kind that this program has no meaning for.
func (k Kind) Traits() (t Traits, known bool) {
	row, known := kinds[k]
	return row.Traits, known
}

// IsInput reports whether a captured event of kind k is something that a turn must settle, unless its header
// says Unobserved.
func IsInput(k Kind) bool {
	t, _ := k.Traits()
	return t.Input
}
