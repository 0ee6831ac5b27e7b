// Package operate is the commands for whoever looks after a daemon: its page, settings, token and logs, the log of events and the
// views over it, and what became of each input, asked again or checked again.
//
// The files, each referring to those below it:
//
//	commands.go, config.go, config_set.go, log.go, log_read.go, log_salvage.go, log_anew.go, log_copy.go, projections.go, outcomes.go,
//	ignore.go, usage.go, gain.go, reobserve.go, recheck.go, provider.go, parse.go, api.go, ui.go, token.go, spool.go, logs.go,
//	man.go, hook.go
//
// What bites: the log is read through the daemon where one runs, and from the file where none does; a file that another process
// holds is refused.
package operate
