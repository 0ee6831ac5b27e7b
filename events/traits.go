package events

import (
	"reflect"

	"github.com/fxamacker/cbor/v2"
)

// Traits are what other packages must know of a kind without looking at its struct.
type Traits struct {
	Reported bool // agents report it of an open session, by hooks or transcripts; an import of another memory makes records of it too
	Input    bool // something that a turn must settle, unless its header says Unobserved
	Words    bool // it may hold somebody's words, so that its payload may be erased
	Evolves  bool // session.Evolve looks into it; of other kinds the header is enough
	Lineage  bool // it tells what was made of what, or what is forgotten: erasure looks into it
	Indexed  bool // the search index looks into it
	Format   int  // of a log that holds one: programs that know no such format refuse it; 0: any
}

// IsRaw reports whether payloads of the kind are only what memory is made of: once that is done they are read by whoever wants to see the
// original, or to do it again.
func (t Traits) IsRaw() bool { return t.Words && !t.Lineage && !t.Indexed }

// A knownKind is what this program knows of a kind: its traits, and the decoder of each schema that it was released with.
type knownKind struct {
	name Kind // empty: it is not known
	Traits
	forms forms
}

// forms are the decoders of a kind's schemas: schema 1 comes first; nil: there is no such schema. Its length is that of the kind
// with the most.
type forms [1]decodeFunc

type decodeFunc func(cbor.DecMode, []byte) (Event, error)

func decodeAs[E Event](dec cbor.DecMode, body []byte) (Event, error) {
	e := new(E)
	if readFields(reflect.ValueOf(e).Elem(), body) {
		return *e, nil
	}
	e = new(E)
	if err := dec.Unmarshal(body, e); err != nil {
		return nil, err
	}
	return *e, nil
}

// known returns the row of k: of what agents and observers say here, and of all else in decided. The two are the one place that
// knows all kinds: a kind without a line cannot be read back, and a test says so.
func (k Kind) known() knownKind {
	switch k {
	case KindSessionOpened:
		return knownKind{KindSessionOpened, Traits{Reported: true, Evolves: true, Lineage: true, Indexed: true}, forms{decodeAs[SessionOpened]}}
	case KindPromptSubmitted:
		return knownKind{KindPromptSubmitted, Traits{Reported: true, Words: true, Indexed: true}, forms{decodeAs[PromptSubmitted]}}
	case KindToolUsed:
		return knownKind{KindToolUsed, Traits{Reported: true, Input: true, Words: true}, forms{decodeAs[ToolUsed]}}
	case KindAgentStopped:
		return knownKind{KindAgentStopped, Traits{Reported: true, Input: true, Words: true}, forms{decodeAs[AgentStopped]}}
	case KindContextCompacted:
		return knownKind{KindContextCompacted, Traits{Reported: true, Input: true, Words: true}, forms{decodeAs[ContextCompacted]}}
	case KindAgentSaid:
		return knownKind{KindAgentSaid, Traits{Reported: true, Words: true, Format: 2}, forms{decodeAs[AgentSaid]}}
	case KindPreferenceStated:
		return knownKind{KindPreferenceStated, Traits{Words: true, Indexed: true, Format: 3}, forms{decodeAs[PreferenceStated]}}
	case KindSessionClosed:
		return knownKind{KindSessionClosed, Traits{}, forms{decodeAs[SessionClosed]}}
	case KindContextInjected:
		return knownKind{KindContextInjected, Traits{}, forms{decodeAs[ContextInjected]}}
	case KindTurnStarted:
		return knownKind{KindTurnStarted, Traits{Evolves: true, Lineage: true}, forms{decodeAs[TurnStarted]}}
	case KindTurnReceived:
		return knownKind{KindTurnReceived, Traits{Words: true}, forms{decodeAs[TurnReceived]}}
	case KindTurnFailed:
		return knownKind{KindTurnFailed, Traits{Words: true, Evolves: true}, forms{decodeAs[TurnFailed]}}
	case KindOutputDropped:
		return knownKind{KindOutputDropped, Traits{Words: true, Evolves: true}, forms{decodeAs[OutputDropped]}}
	case KindOutputSkipped:
		return knownKind{KindOutputSkipped, Traits{Words: true, Evolves: true}, forms{decodeAs[OutputSkipped]}}
	case KindObservationParsed:
		return knownKind{KindObservationParsed, Traits{Words: true, Lineage: true, Indexed: true}, forms{decodeAs[ObservationParsed]}}
	case KindSummaryParsed:
		return knownKind{KindSummaryParsed, Traits{Words: true, Lineage: true, Indexed: true}, forms{decodeAs[SummaryParsed]}}
	case KindWorkUndone:
		return knownKind{KindWorkUndone, Traits{Evolves: true, Format: 6}, forms{decodeAs[WorkUndone]}}
	case KindInputsDropped:
		return knownKind{KindInputsDropped, Traits{Evolves: true}, forms{decodeAs[InputsDropped]}}
	case KindReobserveRequested:
		return knownKind{KindReobserveRequested, Traits{Evolves: true}, forms{decodeAs[ReobserveRequested]}}
	}
	return k.decided()
}

// decided returns the row of a kind that tells what a person or this program decided, or found.
func (k Kind) decided() knownKind {
	switch k {
	case KindSessionRespawned:
		return knownKind{KindSessionRespawned, Traits{Evolves: true}, forms{decodeAs[SessionRespawned]}}
	case KindSessionQuarantined:
		return knownKind{KindSessionQuarantined, Traits{Evolves: true}, forms{decodeAs[SessionQuarantined]}}
	case KindSessionReleased:
		return knownKind{KindSessionReleased, Traits{}, forms{decodeAs[SessionReleased]}}
	case KindProviderPaused:
		return knownKind{KindProviderPaused, Traits{}, forms{decodeAs[ProviderPaused]}}
	case KindProviderResumed:
		return knownKind{KindProviderResumed, Traits{}, forms{decodeAs[ProviderResumed]}}
	case KindClaimChecked:
		return knownKind{KindClaimChecked, Traits{Words: true, Lineage: true}, forms{decodeAs[ClaimChecked]}}
	case KindMemorySaved:
		return knownKind{KindMemorySaved, Traits{Words: true, Indexed: true}, forms{decodeAs[MemorySaved]}}
	case KindMemoryConfirmed:
		return knownKind{KindMemoryConfirmed, Traits{Format: 4}, forms{decodeAs[MemoryConfirmed]}}
	case KindMemorySuperseded:
		return knownKind{KindMemorySuperseded, Traits{}, forms{decodeAs[MemorySuperseded]}}
	case KindMemoryForgotten:
		return knownKind{KindMemoryForgotten, Traits{Evolves: true, Lineage: true, Indexed: true}, forms{decodeAs[MemoryForgotten]}}
	case KindForgetRequested:
		return knownKind{KindForgetRequested, Traits{Format: 4}, forms{decodeAs[ForgetRequested]}}
	case KindForgetSettled:
		return knownKind{KindForgetSettled, Traits{Format: 4}, forms{decodeAs[ForgetSettled]}}
	case KindSessionFaulted:
		return knownKind{KindSessionFaulted, Traits{}, forms{decodeAs[SessionFaulted]}}
	case KindDaemonStarted:
		return knownKind{KindDaemonStarted, Traits{}, forms{decodeAs[DaemonStarted]}}
	case KindDaemonStopped:
		return knownKind{KindDaemonStopped, Traits{}, forms{decodeAs[DaemonStopped]}}
	case KindDaemonDegraded:
		return knownKind{KindDaemonDegraded, Traits{}, forms{decodeAs[DaemonDegraded]}}
	case KindProjectJoined:
		return knownKind{KindProjectJoined, Traits{Format: 4}, forms{decodeAs[ProjectJoined]}}
	case KindProjectParted:
		return knownKind{KindProjectParted, Traits{Format: 4}, forms{decodeAs[ProjectParted]}}
	case KindProjectGiven:
		return knownKind{KindProjectGiven, Traits{Format: 4}, forms{decodeAs[ProjectGiven]}}
	case KindCaptureHidden:
		return knownKind{KindCaptureHidden, Traits{Format: 4}, forms{decodeAs[CaptureHidden]}}
	case KindRecordLost:
		return knownKind{KindRecordLost, Traits{Format: 5}, forms{decodeAs[RecordLost]}}
	case KindLogSalvaged:
		return knownKind{KindLogSalvaged, Traits{Format: 5}, forms{decodeAs[LogSalvaged]}}
	}
	return knownKind{}
}

// nameOf is the kind of a name, without a copy of that where it is known.
func nameOf(b []byte) Kind {
	if name := Kind(b).known().name; name != "" {
		return name
	}
	return Kind(b)
}

// schemaOf is the schema in which e is encoded: the newest of its kind.
func schemaOf(e Event) (newest uint16) {
	for _, form := range e.kind().known().forms {
		if form != nil {
			newest++
		}
	}
	return newest
}

// Traits returns the row of k. known is false for a kind that this program has no meaning for.
func (k Kind) Traits() (t Traits, known bool) {
	row := k.known()
	return row.Traits, row.name != ""
}

// IsInput reports whether a captured event of kind k is something that a turn must settle, unless its header
// says Unobserved.
func IsInput(k Kind) bool {
	t, _ := k.Traits()
	return t.Input
}
