package providers

import "github.com/spf13/cobra"

const playbackHelp = `The provider playback plays a script in the place of a model: for a demonstration, for bringing a reported loop back to
life, for tests. It is chosen by two settings:

  provider = "playback"
  playback_file = "/absolute/path/to/script.jsonl"

A script is JSON, one object a line; blank lines and lines that begin with # say nothing. The first line may be a header:

  {"playback": 1, "model": "a name", "wish": {"max_inputs": 20, "max_bytes": 49152, "max_age_ms": 300000}}

Every other line is a step, which does one of these:

  {"text": "<observation>...</observation>", "stop_reason": "end_turn", "usage": {"input": 1500, "output": 36}}
  {"failure": {"class": "limit", "status": 429, "resets_in_ms": 60000, "message": "...", "output": "..."}}
  {"crash": "exit status 1"}
  {"panic": "index out of range"}
  {"hang": true}

and may have

  "when": {"kind": "summary", "contains": "poison.go", "call": 3, "from_ms": 500, "until_ms": 9000}
  "delay_ms": 250               before the answer
  "repeat": 4, or "forever"     without it: once, or with a when always

All that a when gives must hold: contains is looked for in what the turn settles, call is counted from 1, times from the
first call on.

Each turn takes the first step that is not used up and whose when holds. Where none is left the provider fails, typed, and
inputs are held. A file that ends in .json is a scenario of ` + "`cmemd replay`" + `: its turns are played in their order.`

// NewPlaybackHelp is the help topic of what a script looks like.
func NewPlaybackHelp() *cobra.Command {
	return &cobra.Command{Use: "playback", Short: "The provider that plays a script", Long: playbackHelp}
}
