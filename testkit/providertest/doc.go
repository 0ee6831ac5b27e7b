// Package providertest holds what every observer.Provider must keep to (Run), and a provider that answers from a
// script (Scripted) for the tests of whoever asks one.
//
// RunService holds what asks a service to what that service does, whichever wire lies between: one suite for HTTP and for a
// child process.
//
// The files, each referring to those below it:
//
//	service.go, budget.go, suite.go, scripted.go, prompts.go, options.go
//
// What bites: Run asks with prompts that no session would make, among them some of several megabytes. A provider that
// reaches a paid service is run against a fake of that service.
package providertest
