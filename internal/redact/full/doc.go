// Package full takes secrets out of what is about to leave the machine: everything that package redact knows, and the
// whole rule set of gitleaks, which knows some 220 services. Its rules are used as data: they are matched here, with the
// keywords, entropy and lists of exceptions that each of them has.
//
// The files, each referring to those below it:
//
//	full.go, rules.go, windows.go, matcher.go, exceptions.go, reach.go, format.go
//
// What bites:
//   - It costs ten times what redact costs, and compiles a rule when its keyword is met first: not for the capture path.
//   - Only the secret itself and what the rule matched can make it an exception. Comments beside it (gitleaks:allow), the
//     rest of its line and the name of a file do not: whoever wrote the text may have written those too.
//   - What it does not understand it does not let through: see Text.
package full
