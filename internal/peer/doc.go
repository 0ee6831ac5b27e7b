// Package peer tells whether the process at the other end of a unix socket is a person's command or an agent's, and whether another user
// is at that of a loopback connection. It asks the system, and takes no word of the other end for it.
//
// A person's command has a controlling terminal, and no program of a known agent stands above it, above the leaders of its group and
// session, or above what runs in the foreground of its terminal; nor was any of these started with a variable that agents set for the
// commands that they run. Everything else is an agent's: a command without a terminal, one that has ended, and one of which the system
// tells nothing.
//
// The files, each referring to those below it:
//
//	peer.go                              what is known of a peer
//	user_linux.go                        whose a loopback connection is
//	conn_linux.go, conn_darwin.go        which process is at the other end
//	process_linux.go, process_darwin.go  what the system knows of a process
//	process_other.go                     nothing, elsewhere
//	person.go                            whether a process is a person's command
//
// What bites: a program that runs as the person can forge all of it, with a terminal of its own below a process that no agent
// started, without the variables. In the terminal of an editor that is an agent too, or of a tmux whose server an agent started,
// everybody counts as an agent.
package peer
