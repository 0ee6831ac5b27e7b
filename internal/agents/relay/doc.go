// Package relay is what an agent's hook runs: it carries one payload from standard input to the daemon and the daemon's
// answer back to standard output. Where no daemon answers it keeps the payload in the spool, and where none is there it
// starts one. An agent waits for it at every tool call, so it is linked into a program of its own, uses nothing but the
// standard library, and leaves out the parts of it that are slow to start: net, net/http, encoding/json, crypto/rand.
//
// The daemon uses the other side of the same package: SocketPath, ReadUnanswered, Programs.
//
// The files, each referring to those below it:
//
//	process.go, relay.go, start.go, surroundings.go, disabled.go, unanswered.go, post.go, stream_unix.go,
//	stream_windows.go, hook.go, ignorefiles.go, home.go, slots.go, files.go, system_unix.go, system_windows.go, stdin.go,
//	shorten.go, response.go, payload.go, notice.go, id.go
//
// What bites:
//   - Run must be followed by the end of the process: a reader of standard input, or a write to a hanging disk, may be
//     left behind.
//   - A payload may reach the daemon twice, posted and from the spool. Both carry one delivery id: the daemon answers the
//     second as it answered the first, and stores nothing.
//   - What is posted is what the agent said; what is spooled has lost its private text, and is sealed to a key of the daemon's.
//     What else may not be recorded the daemon decides, whichever way it came.
package relay
