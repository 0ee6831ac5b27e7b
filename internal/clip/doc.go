// Package clip shortens texts without parting a character, and knows what is left out of them: base64, and the escape sequences of
// terminals.
//
// The files, each referring to those below it:
//
//	base64.go, clip.go, escape.go
//
// What bites: limits are bytes. Head looks for where a character begins, so what is left of invalid UTF-8 may be much less than
// was asked for, down to nothing; and it shares the memory of what it cuts, which strings.Clone ends.
package clip
