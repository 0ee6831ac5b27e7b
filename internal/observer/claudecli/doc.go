// Package claudecli asks the user's own Claude Code, as a child process: one child a turn, without tools, settings, hooks,
// MCP servers and skills, in a process group of its own, killed as a group when the turn is over or no longer wanted.
//
// The batch goes to the child's standard input and never into its arguments, which every user of the machine can read; the
// system prompt, which holds no captured text, is a file. The child's environment is picked from the caller's by name, so
// that the person's login works and nothing else leaves this process. A marker in it, CMEMD_OBSERVER, makes cmemd's own
// hooks end at once.
//
// A child does not outlive its parent: on Linux the system kills it when the thread that started it ends, which is why Ask
// holds its thread. Other systems have nothing like it, and the end of its input does not end the client before its answer,
// as it is given all of it at once: there, the child of a daemon that was killed lives to the end of its turn. What lives on,
// such as the child of a wrapper script, is found by Sweep at the next start.
//
// The files, each referring to those below it:
//
//	claudecli.go, outcome.go, child.go, answer.go, sweep.go, marked_linux.go, marked_other.go,
//	command.go, paid.go, lines.go, defuse.go, client.go
//
// What bites: the client calls every answer a success, half of one too; whether an answer is whole is seen by the events of
// its stream (see answer). It would read the files that a prompt mentions with an @, and run what begins with a slash; see
// defuse. It asks again by itself when an answer was cut, so a child is stopped as soon as its first answer is judged. A
// key in the environment is used in place of a login, as the client does everywhere. Where its service wants to be asked
// again in an hour (429 with Retry-After), it gives up at once and does not say until when: only the reset of a
// subscription's limits is known.
package claudecli
