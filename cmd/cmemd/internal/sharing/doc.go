// Package sharing is a home's part in a space of machines: it joins one and leaves it, lets others in, runs what carries this home's log
// and theirs while the daemon runs, and says how they all are. What travels, and how, is package share's.
//
// All that a home keeps of it is in one folder, which the first Join makes: device.key and space (package space), store (where the store
// is, and what lets this machine in), share (package share), copies (package union). A home has joined where space is there.
//
// The files, each referring to those below it:
//
//	join.go, members.go, verify.go, forget.go, status.go, sharing.go, store.go, address.go, words.go
//
// What bites: a store may hang, as a mount of a machine that is off does, and no context ends a call to the file system. So nothing of it
// is touched where a hook, a start or a stop waits; Stop leaves behind what does not end, and the daemon's end ends it.
package sharing
