// Package release says of what version a program of this module is.
//
// The files:
//
//	release.go
//
// What bites: `go run` and a build without a repository record no version. Such a program is "dev", and two of them are told apart by
// their files alone.
package release
