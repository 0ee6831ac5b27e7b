// Package config is the settings of a home: the table of all keys, the file that sets them, what of the environment counts
// beside it, what goes together, changes of the file that leave all else as it stands, and the prices of models.
//
// Files in the order in which a setting passes: keys and its parts (the table, with the rows of package setting), toml
// (reading), config (in force), choice (what goes together), change (writing), prices.
//
// The files, each referring to those below it:
//
//	log.go, app.go, adopt.go, types.go, write.go, change.go, choice.go, environment.go, mode.go, prices_toml.go, toml.go, config.go,
//	groups.go, keys.go, watch.go, vectors.go, reach.go, model.go, prices.go, context.go, capture.go
//
// What bites: a value may be a secret that somebody put in the wrong place. No value of a secret key is repeated in an
// error or recorded.
package config
