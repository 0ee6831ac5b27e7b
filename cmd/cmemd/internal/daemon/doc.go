// Package daemon wires all packages together over one home, runs what comes of it and ends it in order; and it starts and stops
// such a daemon from outside, for commands, for the service and for agents that ask over MCP.
//
// The files, each referring to those below it:
//
//	mcp.go, restart.go, start.go, adopt.go, serve.go, stop.go, run.go, erasure.go, sharing.go, vectors.go, watch.go, budget.go, mcp_http.go,
//	held.go, damage.go, seen.go, daemon.go, tasks.go, secrets.go, offers.go, notice.go, logging.go
//
// What bites: the log is locked before anything else of a home is touched, so two daemons of one home cannot harm each other;
// whatever is done before that, such as the note that asks a reader for the log, must do no harm either. What is started last
// is stopped first.
package daemon
