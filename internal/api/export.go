package api

import "time"

// ExportQuery chooses rows for an export: observations, summaries and saved memories. Zero fields do not narrow.
type ExportQuery struct {
	Project string   // root or shown name
	Kinds   []string // observation, summary, memory
	Since   time.Time
	Until   time.Time
}
