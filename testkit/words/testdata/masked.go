// Package masking takes something out of words.
package masking

import (
	"strings"

	"github.com/cmemd/cmemd/events"
)

func masked(text, key string) string {
	return strings.ReplaceAll(text, key, "[key]")
}

func asked(e events.TurnReceived, key string) bool {
	return strings.Contains(masked(e.Output, key), "limit")
}
