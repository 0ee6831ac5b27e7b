package policy

import "time"

// BatchLimits is when a provider wants to be asked. A zero field never makes a turn due by itself. A stop, a compaction
// and a close of the session always do.
type BatchLimits struct {
	MaxInputs int           // inputs that make a turn due, and the most that one turn settles
	MaxBytes  int           // payload bytes that make a turn due, and the most it settles beyond its first input
	MaxAge    time.Duration // of the oldest input
	Fixed     bool          // the same inputs give the same answer, whoever asks: a fresh observer changes nothing
}

// ModelLimits are the limits of a language model: a full prompt, or five minutes, whatever comes first.
func ModelLimits() BatchLimits {
	return BatchLimits{MaxInputs: 20, MaxBytes: 48 << 10, MaxAge: 5 * time.Minute}
}

// ExtractorLimits are the limits of the built-in extractor: it works on whole answers of the agent and costs nothing, so
// only a stop, or very much work, makes a turn due.
func ExtractorLimits() BatchLimits { return BatchLimits{MaxInputs: 500, Fixed: true} }
