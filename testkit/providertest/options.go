package providertest

import (
	"time"

	"github.com/cmemd/cmemd/internal/observer"
)

// Options say what a provider promises beyond the interface.
type Options struct {
	Deterministic bool          // equal prompts get equal replies, text, form, usage and all
	StopWithin    time.Duration // how fast it notices that ctx is done; 0 means 2 seconds; ten times that under the race detector
	Prompts       []observer.Prompt
}
