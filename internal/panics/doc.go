// Package panics makes errors of panics, where one request, or one report, is all that a panic may cost.
//
// What bites: recover works nowhere deeper than in the deferred function. So Catch is deferred by itself, and whoever defers a function
// around more recovers in that, and has Caught make the error, while the stack is that of the panic.
package panics
