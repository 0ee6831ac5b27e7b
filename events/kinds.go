package events

// Kind names what happened. It is written by hand, is on disk, and never changes.
type Kind string

// The kinds. Their structs carry the same names.
const (
	KindSessionOpened      Kind = "session_opened"
	KindPromptSubmitted    Kind = "prompt_submitted"
	KindToolUsed           Kind = "tool_used"
	KindAgentStopped       Kind = "agent_stopped"
	KindContextCompacted   Kind = "context_compacted"
	KindAgentSaid          Kind = "agent_said"
	KindPreferenceStated   Kind = "preference_stated"
	KindSessionClosed      Kind = "session_closed"
	KindContextInjected    Kind = "context_injected"
	KindTurnStarted        Kind = "turn_started"
	KindTurnReceived       Kind = "turn_received"
	KindTurnFailed         Kind = "turn_failed"
	KindOutputDropped      Kind = "output_dropped"
	KindOutputSkipped      Kind = "output_skipped"
	KindObservationParsed  Kind = "observation_parsed"
	KindSummaryParsed      Kind = "summary_parsed"
	KindWorkUndone         Kind = "work_undone"
	KindInputsDropped      Kind = "inputs_dropped"
	KindReobserveRequested Kind = "reobserve_requested"
	KindSessionRespawned   Kind = "session_respawned"
	KindSessionQuarantined Kind = "session_quarantined"
	KindSessionReleased    Kind = "session_released"
	KindProviderPaused     Kind = "provider_paused"
	KindProviderResumed    Kind = "provider_resumed"
	KindClaimChecked       Kind = "claim_checked"
	KindMemorySaved        Kind = "memory_saved"
	KindMemoryConfirmed    Kind = "memory_confirmed"
	KindMemorySuperseded   Kind = "memory_superseded"
	KindMemoryForgotten    Kind = "memory_forgotten"
	KindForgetRequested    Kind = "forget_requested"
	KindForgetSettled      Kind = "forget_settled"
	KindSessionFaulted     Kind = "session_faulted"
	KindDaemonStarted      Kind = "daemon_started"
	KindDaemonStopped      Kind = "daemon_stopped"
	KindDaemonDegraded     Kind = "daemon_degraded"
	KindProjectJoined      Kind = "project_joined"
	KindProjectParted      Kind = "project_parted"
	KindProjectGiven       Kind = "project_given"
	KindCaptureHidden      Kind = "capture_hidden"
	KindRecordLost         Kind = "record_lost"
	KindLogSalvaged        Kind = "log_salvaged"
)

// Event is one of this package's event structs, by value. The set is closed.
type Event interface {
	kind() Kind
}

// KindOf returns the kind of e.
func KindOf(e Event) Kind { return e.kind() }

// TurnKind is what a turn asks for.
type TurnKind string

// The kinds of turn.
const (
	TurnObservation TurnKind = "observation"
	TurnSummary     TurnKind = "summary"
)

// StopCause is why an agent's work counts as ended.
type StopCause string

// The causes of AgentStopped.
const (
	StopDone    StopCause = "stop"    // the agent said that it was done
	StopFailure StopCause = "failure" // the agent's own model call failed
	StopCompact StopCause = "compact" // the agent compacted in the middle of work
	StopEnd     StopCause = "end"     // the session ended in the middle of work
	StopIdle    StopCause = "idle"    // nothing was heard for half an hour
)

// FailureClass says whose fault a failed turn was. It is derived from typed answers only: a status, a header, an
// error type, a result field; never from text.
type FailureClass string

// The failure classes. The first group holds the provider, the second blames the turn, the third the observer.
const (
	FailLimit     FailureClass = "limit"
	FailAuth      FailureClass = "auth"
	FailBilling   FailureClass = "billing"
	FailOverload  FailureClass = "overload"
	FailServer    FailureClass = "server"
	FailTransport FailureClass = "transport"
	FailTimeout   FailureClass = "timeout"
	FailSetup     FailureClass = "setup"
	FailUnknown   FailureClass = "unknown"

	// FailNoYield is no failure of a turn, and of ProviderPaused alone: too many answers in a row were dropped.
	FailNoYield FailureClass = "no_yield"

	FailRefused   FailureClass = "refused"
	FailOverflow  FailureClass = "overflow"
	FailTruncated FailureClass = "truncated"

	FailCrash       FailureClass = "crash"
	FailInterrupted FailureClass = "interrupted"
)

// BlamesProvider reports whether class c pauses the provider and leaves the turn blameless.
func (c FailureClass) BlamesProvider() bool {
	switch c {
	case FailLimit, FailAuth, FailBilling, FailOverload, FailServer, FailTransport, FailTimeout, FailSetup, FailUnknown, FailNoYield:
		return true
	}
	return false
}

// BlamesTurn reports whether a failure of class c is the turn's own, so that it pauses nobody.
func (c FailureClass) BlamesTurn() bool {
	return c == FailRefused || c == FailOverflow || c == FailTruncated
}

// BlamesObserver reports whether a failure of class c says that the observer died, so that its supervision decides.
func (c FailureClass) BlamesObserver() bool { return c == FailCrash || c == FailInterrupted }

// FailureClasses lists the classes that a turn may fail by, in the order of their constants. The slice is the caller's.
func FailureClasses() []FailureClass {
	return []FailureClass{
		FailLimit, FailAuth, FailBilling, FailOverload, FailServer, FailTransport, FailTimeout, FailSetup, FailUnknown,
		FailRefused, FailOverflow, FailTruncated, FailCrash, FailInterrupted,
	}
}

// DropReason is why inputs were given up without an output.
type DropReason string

// The reasons of InputsDropped.
const (
	DropPoison   DropReason = "poison"   // the observer crashed on it, or died with it, three times
	DropRefused  DropReason = "refused"  // the provider refused it
	DropOverflow DropReason = "overflow" // too long even alone
	DropExpired  DropReason = "expired"  // held longer than the setting allows
	DropCrowded  DropReason = "crowded"  // held with more behind it than the setting allows: the oldest go first
)

// Verdict is what ground truth says of a claim.
type Verdict string

// The verdicts.
const (
	Verified Verdict = "verified"
	Absent   Verdict = "absent"
	Unknown  Verdict = "unknown"
)

// Origin is whose words a turn's inputs held, by their structure alone.
type Origin string

// The origins.
const (
	OriginUnknown Origin = ""        // it cannot be told: no repository at hand, an old history; counted as own
	OriginOwn     Origin = "own"     // the person's, the agent's and the project's alone
	OriginOutside Origin = "outside" // the web's, another MCP server's, or of a file outside the project or not tracked by its git
)

// Writer is who said what memory holds, as the daemon found out by itself: no word of a client's decides it.
type Writer string

// The writers.
const (
	WriterPerson   Writer = "person"   // at a terminal, or in the prompt of a session
	WriterAgent    Writer = "agent"    // a coding agent, or whoever cannot be told from one
	WriterObserver Writer = "observer" // made by turns from what was captured
	WriterUnknown  Writer = "unknown"  // it was recorded before writers were
)

// SettleOutcome is what became of a request to forget.
type SettleOutcome string

// The outcomes of ForgetSettled.
const (
	SettleApproved SettleOutcome = "approved" // a person agreed: it is erased
	SettleRefused  SettleOutcome = "refused"  // a person did not: its rows are shown again
	SettleExpired  SettleOutcome = "expired"  // nobody said anything for too long: its rows are shown again
)

// TypeUnknown is the type of an observation whose own type the mode does not list.
const TypeUnknown = "unknown"

// TypePreference is the type of a memory that says how a person works.
const TypePreference = "preference"

// Why an output was dropped or skipped, as OutputDropped and OutputSkipped carry it. They are structural: none of
// them says what the output was about.
const (
	ReasonEmpty          = "empty"           // skipped: blank
	ReasonSkipSummary    = "skip_summary"    // skipped: the model said so in the agreed form
	ReasonNoXML          = "no_xml"          // dropped: no root of the contract anywhere
	ReasonMissingSummary = "missing_summary" // dropped: a summary was asked for and none was tried
	ReasonMalformed      = "malformed"       // dropped: a root stood there, with nothing that can be kept
)
