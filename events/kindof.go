package events

func (SessionOpened) kind() Kind      { return KindSessionOpened }
func (PromptSubmitted) kind() Kind    { return KindPromptSubmitted }
func (ToolUsed) kind() Kind           { return KindToolUsed }
func (AgentStopped) kind() Kind       { return KindAgentStopped }
func (ContextCompacted) kind() Kind   { return KindContextCompacted }
func (SessionClosed) kind() Kind      { return KindSessionClosed }
func (ContextInjected) kind() Kind    { return KindContextInjected }
func (TurnStarted) kind() Kind        { return KindTurnStarted }
func (TurnReceived) kind() Kind       { return KindTurnReceived }
func (TurnFailed) kind() Kind         { return KindTurnFailed }
func (OutputDropped) kind() Kind      { return KindOutputDropped }
func (OutputSkipped) kind() Kind      { return KindOutputSkipped }
func (ObservationParsed) kind() Kind  { return KindObservationParsed }
func (SummaryParsed) kind() Kind      { return KindSummaryParsed }
func (InputsDropped) kind() Kind      { return KindInputsDropped }
func (ReobserveRequested) kind() Kind { return KindReobserveRequested }
func (SessionRespawned) kind() Kind   { return KindSessionRespawned }
func (SessionQuarantined) kind() Kind { return KindSessionQuarantined }
func (SessionReleased) kind() Kind    { return KindSessionReleased }
func (ProviderPaused) kind() Kind     { return KindProviderPaused }
func (ProviderResumed) kind() Kind    { return KindProviderResumed }
func (ClaimChecked) kind() Kind       { return KindClaimChecked }
func (MemorySaved) kind() Kind        { return KindMemorySaved }
func (MemorySuperseded) kind() Kind   { return KindMemorySuperseded }
func (MemoryForgotten) kind() Kind    { return KindMemoryForgotten }
func (SessionFaulted) kind() Kind     { return KindSessionFaulted }
func (DaemonStarted) kind() Kind      { return KindDaemonStarted }
func (DaemonStopped) kind() Kind      { return KindDaemonStopped }
func (DaemonDegraded) kind() Kind     { return KindDaemonDegraded }

// decoders lists, for every kind, the decoder of each schema it was released with; schema 1 comes first. It is the
// one place that knows all kinds: a kind without a line here cannot be read back, and a test says so.
func decoders() map[Kind][]decodeFunc {
	return map[Kind][]decodeFunc{
		KindSessionOpened:      {decodeAs[SessionOpened]},
		KindPromptSubmitted:    {decodeAs[PromptSubmitted]},
		KindToolUsed:           {decodeAs[ToolUsed]},
		KindAgentStopped:       {decodeAs[AgentStopped]},
		KindContextCompacted:   {decodeAs[ContextCompacted]},
		KindSessionClosed:      {decodeAs[SessionClosed]},
		KindContextInjected:    {decodeAs[ContextInjected]},
		KindTurnStarted:        {decodeAs[TurnStarted]},
		KindTurnReceived:       {decodeAs[TurnReceived]},
		KindTurnFailed:         {decodeAs[TurnFailed]},
		KindOutputDropped:      {decodeAs[OutputDropped]},
		KindOutputSkipped:      {decodeAs[OutputSkipped]},
		KindObservationParsed:  {decodeAs[ObservationParsed]},
		KindSummaryParsed:      {decodeAs[SummaryParsed]},
		KindInputsDropped:      {decodeAs[InputsDropped]},
		KindReobserveRequested: {decodeAs[ReobserveRequested]},
		KindSessionRespawned:   {decodeAs[SessionRespawned]},
		KindSessionQuarantined: {decodeAs[SessionQuarantined]},
		KindSessionReleased:    {decodeAs[SessionReleased]},
		KindProviderPaused:     {decodeAs[ProviderPaused]},
		KindProviderResumed:    {decodeAs[ProviderResumed]},
		KindClaimChecked:       {decodeAs[ClaimChecked]},
		KindMemorySaved:        {decodeAs[MemorySaved]},
		KindMemorySuperseded:   {decodeAs[MemorySuperseded]},
		KindMemoryForgotten:    {decodeAs[MemoryForgotten]},
		KindSessionFaulted:     {decodeAs[SessionFaulted]},
		KindDaemonStarted:      {decodeAs[DaemonStarted]},
		KindDaemonStopped:      {decodeAs[DaemonStopped]},
		KindDaemonDegraded:     {decodeAs[DaemonDegraded]},
	}
}
