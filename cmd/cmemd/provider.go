package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/observer"
	"github.com/cmemd/cmemd/observer/extractive"
	"github.com/cmemd/cmemd/observer/playback"
)

// errNoPlayback is a choice of the provider playback without a word of what it shall play.
var errNoPlayback = errors.New("provider = playback needs playback_file, the absolute path of what it plays")

// checkTogether reports settings that are good one by one and not together.
func (c config) checkTogether() error {
	if c.Provider == playback.Name && c.PlaybackFile == "" {
		return errNoPlayback
	}
	return nil
}

// newProvider makes the provider that c names. What it plays is read here, once.
func newProvider(c config) (observer.Provider, error) {
	if c.Provider != playback.Name {
		return extractive.New(extractive.Config{}), nil
	}
	if err := c.checkTogether(); err != nil {
		return nil, err
	}
	script, err := readPlayback(c.PlaybackFile)
	if err != nil {
		return nil, advise(fmt.Errorf("playback_file %s: %w", c.PlaybackFile, err), "correct it; `cmemd help playback` shows the form of a script")
	}
	return playback.New(script, playback.Config{}), nil
}

// readPlayback reads a script.
func readPlayback(path string) (*playback.Script, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return playback.Read(file)
}

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

  "when": {"kind": "summary", "contains": "poison.go", "call": 3}   for which turns it is: all that is given must hold
  "delay_ms": 250                                                   before the answer
  "repeat": 4, or "forever"                                         without it: once, or with a when always

Each turn takes the first step that is not used up and whose when holds. Where none is left the provider fails, typed, and
inputs are held.`

// newPlaybackHelp is the help topic of what a script looks like.
func newPlaybackHelp() *cobra.Command {
	return &cobra.Command{Use: "playback", Short: "The provider that plays a script", Long: playbackHelp}
}
