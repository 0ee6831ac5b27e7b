// Package signin lets a person's browsers in, without a cookie and without anything in them that a script can read and send away.
//
// A link holds a code that one browser can use once, within a minute. With it the browser enrols the public half of a key pair that it
// will not export: it is a viewer from then on. Each of its tabs has a nonce made, signs it, and is given a bearer for an hour, which
// neither end keeps anywhere but in memory. Viewers stand in a file of the daemon's home, of this user alone; the code and the bearer
// are kept as hashes, in memory.
//
// The files, each referring to those below it:
//
//	link.go, session.go, register.go, file.go, viewer.go, key.go
//
// What bites:
//   - Whoever uses a code a second time has seen somebody else's link, or somebody has seen theirs: the viewer that it made is dropped.
//   - It is no wall against programs of the same user: a copied profile of a browser holds its key, and a key that was written into the
//     file of viewers is let in after the next start.
//   - Links that were used are forgotten when the daemon ends: a second use later opens nothing, and drops nobody.
//   - A viewer that was dropped is out at once, whether or not the file could be written; the error says so where it could not.
package signin
