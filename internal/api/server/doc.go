// Package server answers package client, hooks and whatever else speaks HTTP: over the actors, the log and the views.
//
//	POST /v1/hooks/{agent}                one hook payload; the answer is the agent's reply, and the event is on disk
//	POST /v1/ingest/{agent}               a transcript, streamed
//	POST /v1/import/{source}              another memory's rows, a line each
//	GET  /v1/search                       rows by words, filters and time
//	GET  /v1/context                      what a session would be told
//	GET  /v1/timeline                     what stands around a row
//	GET  /v1/why/{id}                     the chain behind a row
//	GET  /v1/observations                 whole rows by id
//	GET  /v1/observations/{id}            one whole row
//	GET  /v1/observations/{id}/inputs     what a row was made of
//	POST /v1/observations                 whole rows by id, more of them
//	POST /v1/rows                         the same
//	POST /v1/memories                     saves or corrects one
//	POST /v1/memories/{id}/undo           takes a correction back
//	GET  /v1/sessions                     sessions, newest first
//	GET  /v1/sessions/{id}                one session
//	POST /v1/sessions/{id}/release        ends its quarantine
//	GET  /v1/outcomes                     what became of inputs
//	POST /v1/reobserve                    asks for turns again
//	POST /v1/recheck                      looks at claims again
//	POST /v1/forget                       plans an erasure, or does it
//	GET  /v1/status                       the daemon, its providers, what is not well
//	GET  /v1/usage                        what turns cost
//	GET  /v1/events                       records as they come (server-sent events; id is the position)
//	GET  /v1/export                       rows as lines of JSON
//	GET  /v1/log/stats                    the log's numbers
//	GET  /v1/log/records                  a page of records
//	GET  /v1/log/verify                   checks every record and the balance
//	GET  /v1/log/export                   records as lines of JSON
//	GET  /v1/log/backup                   the log's file as it stands
//	GET  /v1/projections                  the views
//	GET  /v1/projections/{name}           one view
//	POST /v1/projections/rebuild          makes views anew
//	POST /v1/token/rotate                 another bearer token
//	POST /v1/stop                         ends the daemon in order
//	GET  /healthz                         it is alive
//	GET  /readyz                          it has started
//	GET  /metrics                         numbers for Prometheus
//
// Only this package turns errors into a status, in one place; what it does not know is a 500 with a line in the daemon's log file.
//
// A hook's answer says what the hook is to do with its payload: 200 forget it, 4xx and 500 forget it too, because capture
// has put it aside with its reason, and 503 keep it and bring it again. What was kept comes back from the spool, on the
// same path. A fact that is delivered twice is recorded once.
//
// The files, each referring to those below it:
//
//	status_metrics.go, reobserve_wait.go, reobserve_choose.go, serve.go, listener.go, routes.go,
//	export.go, timeline.go, middleware.go, metrics.go, context.go, events.go, logs.go, why.go,
//	memories.go, observations.go, views.go, status.go, forget.go, status_providers.go, usage.go,
//	outcomes.go, reobserve.go, sessions.go, mcp.go, read.go, read_asof.go, read_project.go, body.go,
//	hooks.go, inject.go, stream.go, config.go, auth.go, errors.go, read_file.go, lifetime.go,
//	findings.go
//
// What bites:
//   - A hook's request ends when the agent's patience does: its context is done, yet the event may still be appended.
//   - Streams (events, verify, export, backup, rebuild, ingest, import, reobserve, recheck, forget) have no total time
//     limit, but each write and each read has one: a client that stops reading is dropped.
//   - The order of checks on the loopback address is host, origin, token: a page in a browser learns nothing, not even
//     whether its token is right.
//   - Nothing of a payload goes into a problem document or the log file.
package server
