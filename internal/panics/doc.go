// Package panics makes errors of panics, where one request, or one report, is all that a panic may cost.
//
// What bites: Caught does not recover. The deferred function itself has to, for recover works nowhere deeper, and the stack is
// that of the panic only while it runs.
package panics
