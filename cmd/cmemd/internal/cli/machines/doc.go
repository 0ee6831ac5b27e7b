// Package machines is the commands by which a person has machines share one memory, and sees how they are.
//
// The files, each referring to those below it:
//
//	commands.go, hub.go, invite.go, join.go, leave.go, devices.go, flush.go, verify.go, cluster.go, ask.go, forgotten.go
//
// What bites: a code lets in whoever has it, and a recovery code opens all there is. They are printed where a person asked for them and
// nowhere else, and no process that goes on running is given one on its command line.
package machines
