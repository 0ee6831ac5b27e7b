package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/playback"
	"github.com/cmemd/cmemd/internal/replay"
)

// errNoPlayback is a choice of the provider playback without a word of what it shall play.
var errNoPlayback = errors.New("needs playback_file, the absolute path of what it plays")

// checkTogether reports settings that are good one by one and not together.
func (l *loaded) checkTogether() error {
	_, err := l.loadMode()
	return errors.Join(l.checkChoice(), l.checkKeys(), l.checkEmbeddings(), err)
}

// newPlayback makes the provider that plays what is set. It is read here, once.
func (l *loaded) newPlayback() (observer.Provider, error) {
	script, err := readPlayback(l.PlaybackFile)
	if err != nil {
		return nil, advise(fmt.Errorf("playback_file %s: %w", l.PlaybackFile, err), "correct it; `cmemd help playback` shows the form of a script")
	}
	return playback.New(script, playback.Config{}), nil
}

// readPlayback reads a script, or makes one of a scenario.
func readPlayback(path string) (*playback.Script, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if filepath.Ext(path) != ".json" {
		return playback.Read(file)
	}
	scenario, err := replay.ReadScenario(file)
	if err != nil {
		return nil, err
	}
	return scenarioScript(scenario)
}

// scenarioScript plays the turns of a scenario in their order, each kind for turns of its kind, as fast as they are asked
// for. An observer that a policy would have respawned has no place in it: what a new one would have said is assumed, and
// a daemon has its own.
func scenarioScript(s *replay.Scenario) (*playback.Script, error) {
	script := &playback.Script{Model: s.ID, Wish: policy.ModelWish()}
	for _, e := range s.Events {
		step := playback.Step{Repeat: 1, Action: scenarioAction(e)} // once, though it may have a when
		if _, ok := step.Action.(playback.Text); ok {
			step.When.Kind = events.TurnKind(e.Kind)
		}
		script.Steps = append(script.Steps, step)
	}
	if len(script.Steps) == 0 {
		return nil, errors.New("the scenario has no event")
	}
	return script, nil
}

func scenarioAction(e replay.Event) playback.Action {
	failed := e.Provider != nil && e.Provider.IsError
	switch {
	case e.Kind == replay.KindExit, failed && e.Provider.Class() == events.FailCrash, failed && e.Provider.Class() == events.FailInterrupted:
		return playback.Crash("the observer ended")
	case failed:
		return playback.Failure{
			Class: e.Provider.Class(), Output: e.Output, ResetsIn: time.Duration(max(0, e.Provider.ResetsMS-e.AtMS)) * time.Millisecond,
		}
	}
	return playback.Text{Text: e.Output, Form: e.Form, Usage: events.Usage{Input: e.Tokens.In, Output: e.Tokens.Out}}
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

  "when": {"kind": "summary", "contains": "poison.go", "call": 3, "from_ms": 500, "until_ms": 9000}
  "delay_ms": 250               before the answer
  "repeat": 4, or "forever"     without it: once, or with a when always

All that a when gives must hold: contains is looked for in what the turn settles, call is counted from 1, times from the
first call on.

Each turn takes the first step that is not used up and whose when holds. Where none is left the provider fails, typed, and
inputs are held. A file that ends in .json is a scenario of ` + "`cmemd replay`" + `: its turns are played in their order.`

// newPlaybackHelp is the help topic of what a script looks like.
func newPlaybackHelp() *cobra.Command {
	return &cobra.Command{Use: "playback", Short: "The provider that plays a script", Long: playbackHelp}
}
