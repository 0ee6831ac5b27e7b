// Package providers makes what observes out of the settings: a provider by its name, with its mode, its key and what must be
// ended of it; has one tried, for `cmemd observer test` and for doctor; has two work on the same recorded sessions, for
// `cmemd observer compare`; and says which models could observe here and what that would cost, for `cmemd setup`.
//
// The files, each referring to those below it:
//
//	observer.go, compare.go, compare_show.go, candidates.go, daily.go, compared.go, rehearse.go, compared_row.go, try.go,
//	sample.go, build.go, playback.go, playback_help.go
//
// What bites: making a provider asks nobody and starts nothing, but trying one costs what a turn costs, and no budget counts it.
// The same is true of a comparison, whose logs go with it.
package providers
