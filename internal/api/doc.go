// Package api is how the rest of the world speaks with the daemon: an HTTP server over the actors, the log and the
// views, the types that go over the wire, and a client in Go.
//
// The server listens on a unix socket, whose folder is the person's alone, and on a loopback address, where every
// request but /healthz and /readyz must carry a bearer token, name a loopback host and come from no foreign origin.
// Everything is below /v1 but what machines ask: /healthz, /readyz, /metrics, and /mcp, which another package makes.
//
//	POST /v1/hooks/{agent}             one hook payload; the answer is the agent's reply, and the event is on disk
//	POST /v1/ingest/{agent}            a transcript, streamed
//	GET  /v1/search /context /timeline /why/{id} /observations?ids= /observations/{id}[/inputs], POST /v1/observations /memories
//	GET  /v1/sessions[/{id}] /outcomes /status, POST /v1/sessions/{id}/release
//	GET  /v1/events                    records as they come (server-sent events; id is the position)
//	GET  /v1/log/stats /records /verify /export /backup
//	GET  /v1/projections[/{name}], POST /v1/projections/rebuild
//	POST /v1/stop
//
// What is no success is a problem document (RFC 9457). Only this package turns errors into a status, in one place;
// what it does not know is a 500 with a line in the daemon's log file.
//
// A hook's answer says what the hook is to do with its payload: 200 forget it, 4xx and 500 forget it too, because the
// server has put it aside with its reason, and 503 keep it and bring it again. What was kept comes back through Drain,
// on the same path. A fact that is delivered twice is recorded once.
//
// What bites:
//   - A hook's request ends when the agent's patience does: its context is done, yet the event may still be appended.
//   - Streams (events, verify, export, backup, rebuild, ingest) have no total time limit, but each write and each read
//     has one: a client that stops reading is dropped.
//   - The order of checks on the loopback address is host, origin, token: a page in a browser learns nothing, not even
//     whether its token is right.
//   - Nothing of a payload goes into a problem document or the log file.
package api
