package policy

import (
	"strings"

	"github.com/cmemd/cmemd/events"
)

// HasPhrase reports whether one of the phrases of the legacy policies stands in an output, in any letter case. Replay
// asks it of outputs that did not parse, to show what such a rule costs; nothing that runs live does. This file is the
// only place where the words of an unparsed output are compared with anything.
func HasPhrase(output events.Output) bool {
	text := strings.ToLower(output.RawText())
	for _, p := range legacyPhrases() {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// legacyPhrases are the eleven that claude-mem 13.4.0 to 13.8.1 took for the end of an observer's conversation.
func legacyPhrases() [11]string {
	return [...]string{
		"session exhausted",
		"session has been exhausted",
		"session limit reached",
		"context window",
		"prompt is too long",
		"maximum context length",
		"conversation is too long",
		"no longer able to continue",
		"i cannot continue this session",
		"session closed",
		"this session has ended",
	}
}
