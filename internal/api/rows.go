package api

import (
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/memory/recall"
)

// RowsQuery asks for whole rows by id.
type RowsQuery struct {
	IDs   []string        // or the beginnings of them; 1 to 200
	After events.Position // the answer must know this position; 0: whatever is known
}

// RawInput is one of the inputs that a row was made of.
type RawInput = recall.RawInput
