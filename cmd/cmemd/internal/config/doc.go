// Package config is the settings of a home: the table of all keys, the file and the environment that set them, what goes
// together, changes of the file that leave all else as it stands, and the prices of models.
//
// Files in the order in which a setting passes: keys and its parts (the table), toml (reading), config (in force), rules
// and choice (what is made of it), change (writing), prices.
//
// The files, each referring to those below it:
//
//	app.go, change.go, watch.go, prices_toml.go, toml.go, mode.go, capture.go, choice.go, rules.go,
//	prices.go, vectors.go, model.go, config.go, context.go, keys.go
//
// What bites: a value may be a secret that somebody put in the wrong place. No value of a secret key is repeated in an
// error or recorded.
package config
