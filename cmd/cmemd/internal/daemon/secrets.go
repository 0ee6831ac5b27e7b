package daemon

import (
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/redact"
)

// captureSecrets takes secrets out of what is about to be recorded.
func captureSecrets() agents.Redact {
	r := redact.New()
	return func(text string, json bool) (string, map[string]int) {
		if json {
			return r.JSON(text)
		}
		return r.Text(text)
	}
}
