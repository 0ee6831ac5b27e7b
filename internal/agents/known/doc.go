// Package known is what is known of each coding agent without decoding anything that it says: its name and programs, where it
// keeps settings and transcripts, which hooks it is given and in which form, at which of them it takes memory, and what
// switches them off. The hook, the installer, the follower of transcripts and doctor read it here and ask for no agent by name.
//
// It is linked into the program that agents start at every tool call, and so uses the standard library alone.
//
// A new agent is one function in table.go, beside its decoder in internal/agents.
package known
