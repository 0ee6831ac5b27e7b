// Package setting is what a setting is, and those settings by which turns are decided: rules of sessions, pauses of
// providers, slots, budgets, and who is asked. The daemon goes by them, and replay reads them again as DaemonStarted recorded
// them, from the same rows. So the package lies below both. It is no part of actors/policy, which knows neither sessions nor
// the names of providers.
//
// Of each there is one row: its key, what it may be, its default, and the field that its value goes to.
//
// The files, each referring to those below it:
//
//	in_force.go, choice.go, providers.go, row.go, form.go
//
// What bites: what is on record was within the limits of its day, which are not those of today. Row.Read takes it as it is;
// only Row.Set holds it to the limits.
package setting
