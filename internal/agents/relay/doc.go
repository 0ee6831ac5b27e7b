// Package relay is what an agent's hook runs: it carries one payload from standard input to the daemon and the daemon's
// answer back to standard output. Where no daemon answers it keeps the payload in the spool, and where none is there it
// starts one. An agent waits for it at every tool call, so it is linked into a program of its own, uses nothing but the
// standard library, and leaves out the parts of it that are slow to start: net/http, encoding/json, crypto/rand.
//
// The daemon uses the other side of the same package: SocketPath, Spool, ReadUnanswered, CutPrivate.
//
// What bites:
//   - Run must be followed by the end of the process: a reader of standard input, or a write to a hanging disk, may be
//     left behind.
//   - A payload may reach the daemon twice, posted and from the spool. Both carry one delivery id: the daemon answers the
//     second as it answered the first, and stores nothing.
//   - What is posted is what the agent said; what is spooled has lost its private text and its secrets, and what Rules let
//     nobody record. The daemon looks for all of it again.
//   - Rules know files by their names and commands by their words. A program that reads a private file which its command
//     line does not name, and tools that print what others read, are recorded, without the secrets that are known as such.
package relay
