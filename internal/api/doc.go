// Package api is what goes over the wire between the daemon and the rest of the world: queries, answers and problems, and the table
// of routes that joins them. Package client asks by it, over a connection, package server answers by it, and whoever lives in the
// daemon asks the server itself. What a query's parameters are called, and which values they take, is said at its fields alone.
//
// The daemon listens on a unix socket, whose folder is the person's alone, and on a loopback address, where every request but
// those of ScopeAnybody must carry a bearer token, name a loopback host and come from no foreign origin. Everything is below /v1 but
// what machines ask: /healthz, /readyz, /metrics, /mcp, which package mcp makes, and the page's files, below /ui/.
//
// What is no success is a problem document (RFC 9457), which Invoke returns as a *Problem.
//
// The files, each referring to those below it:
//
//	openapi.go, replay.go, context.go, export.go, timeline.go, why.go, rows.go, list.go, search.go, memory.go, projects.go,
//	sessions.go, outcomes.go, gain.go, usage.go, recheck.go, reobserve.go, forget.go, cluster.go, verify.go, compare.go,
//	status.go, provider.go, records.go, log.go, views.go, capture.go, types.go, ui.go, pages.go, params.go, cursor.go, route.go,
//	face.go, problem.go, names.go
//
// What bites: JSON names and parameters are a contract. They are added, never changed.
package api
