package api

// The routes by which sessions come in.
var (
	HookRoute   = Stream[HookQuery]{post, "/v1/hooks/{agent}", ScopeOwn, "one hook payload; the answer is the agent's reply, and the event is on disk"}
	IngestRoute = Stream[IngestQuery]{post, "/v1/ingest/{agent}", ScopeOwn, "a transcript, streamed"}
	ImportRoute = Stream[ImportQuery]{post, "/v1/import/{source}", ScopeOwn, "another memory's rows, a line each"}
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

// ImportQuery says what other memory entries come from.
type ImportQuery struct {
	Source string `path:"source"`
}
