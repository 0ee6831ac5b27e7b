package api

// The routes by which sessions come in.
var (
	SettleRoute = Route[SettleRequest, Settled]{post, "/v1/settle", ScopeOwn, "ends what ingested sessions left unfinished, if they are silent for idle_stop"}
	HookRoute   = Stream[HookQuery]{post, "/v1/hooks/{agent}", ScopeOwn, "one hook payload; the answer is the agent's reply, and the event is on disk"}
	IngestRoute = Stream[IngestQuery]{post, "/v1/ingest/{agent}", ScopeOwn, "a transcript, streamed"}
	ImportRoute = Stream[ImportQuery]{post, "/v1/import/{source}", ScopePerson, "another memory's rows, a line each, which are believed"}
)

// HookQuery names the agent whose hook posts.
type HookQuery struct {
	Agent string `path:"agent"`
}

// IngestQuery says whose transcript is sent. Path names it in the record; only what is sent is read.
type IngestQuery struct {
	Agent string `path:"agent"`
	Path  string `param:"path"`
}

// MaxSettled is how many sessions one request may name.
const MaxSettled = 100

// SettleRequest is the body that names sessions whose transcripts were ingested to their ends.
type SettleRequest struct {
	Sessions []SilentSession `json:"sessions"` // 1 to MaxSettled
}

// Check implements the queries' method of that name.
func (q *SettleRequest) Check(wrong Wrong) {
	if n := len(q.Sessions); n == 0 || n > MaxSettled {
		wrong("/sessions", "names %d sessions, where 1 to %d may be", n, MaxSettled)
	}
}

// ImportQuery says what other memory entries come from.
type ImportQuery struct {
	Source string `path:"source"`
}
