// Package scenarios gives the commands that play what was recorded: `cmemd replay` under any policy, and `cmemd demo` through
// real daemons.
//
// The files, each referring to those below it:
//
//	command.go, fleet.go, fleet_show.go, fleet_stores.go, poison_scenes.go, poison_assert.go, poison_play.go, poison.go,
//	replay_log.go, replay_run.go, replay_parser.go, replay_json.go, script.go, replay_types.go, replay_source.go, replay_show.go,
//	replay.go, demo_show.go, demo.go
//
// What bites: a demo starts this program again as a daemon, kills it, and removes its temporary home before it returns; a
// replay never writes to a log.
package scenarios
