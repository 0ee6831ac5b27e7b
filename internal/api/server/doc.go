// Package server answers package client, hooks and whatever else speaks HTTP: over the actors, the log and the views.
//
// Only this package turns errors into a status, in one place; what it does not know is a 500 with a line in the daemon's log file.
//
// What can be asked, and by whom, is said by the values of package api whose names end in Route:
//
//	grep -nE 'Route +=' internal/api/*.go
//
// lists them. Each is bound once, in the method routes of the object that answers it. Only /mcp is of another package.
//
// A hook's answer says what the hook is to do with its payload: 200 forget it, 4xx and 500 forget it too, because capture
// has put it aside with its reason, and 503 keep it and bring it again. What was kept comes back from the spool, on the
// same path. A fact that is delivered twice is recorded once.
//
// The files, each referring to those below it:
//
//	server.go, openapi.go, replays.go, export.go, search.go, context.go, why.go, memories.go, forget.go, projects.go,
//	views.go, events.go, logs.go, sessions.go, status_metrics.go, metrics.go, status.go, gain.go, usage.go, findings.go, hooks.go,
//	config.go, cluster.go, inject.go, page.go, auth.go, routes.go, caller.go, work.go, serve.go, middleware.go, body.go, lifetime.go,
//	names.go, sources.go, errors.go
//
// What bites:
//   - A hook's request ends when the agent's patience does: its context is done, yet the event may still be appended.
//   - What api calls a Stream or a Work has no total time limit, but each write and each read has one: a client that stops reading is
//     dropped.
//   - The order of checks on the loopback address is host, origin, token: a foreign page in a browser learns nothing, not even
//     whether its token is right.
//   - Nothing of a payload goes into a problem document or the log file.
package server
