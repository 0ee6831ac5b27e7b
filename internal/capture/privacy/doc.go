// Package privacy says what of a report is never recorded, whoever asks for it: contents of keys, dotenv files and
// credentials, listings of the environment, and what the person's settings and ignore files name. The daemon asks its Rules
// about everything that it captures, from whichever source it comes; hooks decide nothing of this.
//
// The files, each referring to those below it:
//
//	privatelines.go, masker.go, inspect.go, inspect_shell.go, inspect_code.go, rules_json.go,
//	publickey.go, shellcut.go, shellfeed.go, expand.go, privateglob.go, shellkept.go, inspection.go,
//	privatefile.go, shellenv.go, shelluse.go, shellcount.go, shellprogram.go, programs.go, condition.go, listing.go,
//	switches.go, rules.go, scopes.go, shellwords.go
//
// What bites:
//   - Rules know files by their names and commands by their words. A program that reads a private file which its command
//     line does not name, and tools that print what others read, are recorded, without the secrets that are known as such.
//   - Package privatetext cuts private tags and package redact secrets; Rules look at files and commands alone.
package privacy
