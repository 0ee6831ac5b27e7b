// Package redact takes secrets out of text that is about to be kept: keys, tokens and passwords become marks that say
// what stood there, [redacted:github-token]. It knows secrets by what their makers put in front of them, by their shape
// (keys in PEM, JSON web tokens, passwords in addresses), and by the name of what they are assigned to.
//
// It runs on all that agents report, and in the program that agents start at every tool call: so it uses the standard
// library alone, looks for all its words in one pass, and then only around what it found. Its time is linear in the text.
//
// What becomes of a text:
//   - A mark has no character that JSON would escape, and no span cuts an escape sequence or crosses a double quote of a
//     JSON text: what was JSON stays JSON, with the same members.
//   - Marks are not looked into: to redact twice changes nothing more.
//   - Hashes, UUIDs, checksums, colours, paths, versions and code that only names a secret stay as they are.
//
// The files, each referring to those below it:
//
//	spaced.go, commands.go, shapes.go, accounts.go, putty.go, pem.go, pem_list.go, plain.go, classify.go, value.go,
//	address.go, assign.go, general.go, tokens.go, hidden.go, finder.go, redact.go, chars.go, keywords.go
//
// What bites:
//   - A password is only known by the name in front of it. One that stands alone is not found. One that is an ordinary word is
//     found where settings stand that are no code: NAMES_OF_PASSWORDS in a line of their own, properties, settings of a
//     connection, options of programs. One of several words is found in quotes only.
//   - A password behind a blank is known in Dockerfiles, netrc, SQL and of some programs' options only.
//   - Half a secret is often none by these rules: redact before anything is cut.
//   - A Redactor is a table of some 600 kB that takes about a millisecond to make. Make one and keep it.
//   - The package full beside this one knows many more services and costs ten times as much: it is for what leaves the
//     machine.
package redact
