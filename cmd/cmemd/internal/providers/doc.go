// Package providers makes what observes out of the settings: a provider by its name, with its mode, its key and what must be
// ended of it; and has one tried, for `cmemd observer test` and for doctor.
//
// The files, each referring to those below it:
//
//	observer.go, try.go, sample.go, build.go, playback.go, playback_help.go
//
// What bites: making a provider asks nobody and starts nothing, but trying one costs what a turn costs, and no budget counts it.
package providers
