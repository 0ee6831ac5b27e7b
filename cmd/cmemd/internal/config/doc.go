// Package config is the settings of a home: the table of all keys, the file and the environment that set them, what goes
// together, changes of the file that leave all else as it stands, and the prices of models.
//
// Files in the order in which a setting passes: keys and its parts (the table), toml (reading), config (in force), rules
// and choice (what is made of it), change (writing), prices.
//
// What bites: a value may be a secret that somebody put in the wrong place. No value of a secret key is repeated in an
// error or recorded.
package config
