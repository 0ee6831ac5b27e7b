// Package policy decides, from numbers alone: how often an observer may be restarted, how long a quarantine or a pause
// lasts, when a turn is due. It never sees the words of an output.
//
// The package is pure: no clock, randomness, environment, I/O, context or goroutine. Times are given; what looks
// random (the jitter of a delay) is drawn from a seed that the caller records.
//
// What bites: windows are closed, as in OTP's supervisor. A restart exactly one window old still counts.
package policy
