// Package api is what goes over the wire between the daemon and the rest of the world: queries, answers and problems, and a client
// in Go that asks for them. Package server answers.
//
// The daemon listens on a unix socket, whose folder is the person's alone, and on a loopback address, where every request but
// /healthz and /readyz must carry a bearer token, name a loopback host and come from no foreign origin. Everything is below /v1 but
// what machines ask: /healthz, /readyz, /metrics, and /mcp, which package mcp makes.
//
// What is no success is a problem document (RFC 9457), which the client returns as a *Problem.
//
// The files, each referring to those below it:
//
//	client_reobserve.go, client_rows.go, recheck.go, usage.go, client_routes.go, client_stream.go,
//	timeline.go, why.go, types.go, client_start.go, client.go, forget.go, verify.go,
//	status.go, rows.go, reobserve.go, problem.go, names.go, export.go, context.go
//
// What bites:
//   - A Client that gets no answer says ErrNotRunning; one whose answer ends early says ErrCut, and what it was given until then stands.
//   - JSON names are a contract: fields are added, never changed.
package api
