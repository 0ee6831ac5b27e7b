// Package attacks tries on the real programs what is known to have been tried on memories of agents, one script a case: what an agent
// reads configures the daemon, poses as another project, speaks for the person, or is passed off as theirs. Each script begins with the
// name of its case; SECURITY.md lists them all. The daemon is started as agents start it, by a hook or by the server of an agent's
// client, and whoever asks has no terminal.
//
//	go test ./testkit/attacks -attacks
//
// What bites: the programs are built anew, and each script has a home and a daemon of its own, so it takes a minute; without the flag
// nothing runs. What needs a second user of the machine, or a live model's obedience, is not tried.
package attacks
