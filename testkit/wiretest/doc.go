// Package wiretest holds what every model.Asker that speaks HTTP must keep to (Run), against a server whose answers are
// scripted to the byte (Server): whole and cut at every byte, in pieces with a border at every byte, slow, hung, of a wrong
// type, and every refusal with and without a time to come back.
//
// The files, each referring to those below it:
//
//	run.go, service.go, forms.go, faults.go, suite.go, server.go
//
// What bites: Run looks at the goroutines and the loggers of the whole program. It is not for a test that calls
// testing.T.Parallel, nor beside one.
package wiretest
