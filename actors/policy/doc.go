// Package policy decides, from numbers alone: how often an observer may be restarted, how long a quarantine or a pause
// lasts, when a turn is due. Nine named policies (New) put these rules together: two of them run live, all of them in
// replay, where what each would have done is compared.
//
// The package is pure: no clock, randomness, environment, I/O, context or goroutine. Times are given; what looks
// random (the jitter of a delay) is drawn from a seed that the caller records.
//
// The files, each referring to those below it:
//
//	policy.go, history.go, pause.go, settings.go, no_yield.go, unparseable.go, restart.go, batch_limits.go, ruling.go,
//	phrases.go, name.go, budget.go, fault.go, times.go
//
// What bites: windows are closed, as in OTP's supervisor. A restart exactly one window old still counts. And no rule
// sees the words of an output: an Output is its class and disposition. HasPhrase, for the two oldest policies, is the one
// place that does, and nothing live calls it.
package policy
