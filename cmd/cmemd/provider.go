package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/playback"
	"github.com/cmemd/cmemd/internal/replay"
)

// newPlayback makes the provider that plays what is set. It is read here, once.
func newPlayback(l *config.Loaded) (observer.Provider, error) {
	script, err := readPlayback(l.PlaybackFile)
	if err != nil {
		return nil, terminal.Advise(fmt.Errorf("playback_file %s: %w", l.PlaybackFile, err), "correct it; `cmemd help playback` shows the form of a script")
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
			Class: e.Provider.Class(), Output: e.Output.RawText(), ResetsIn: time.Duration(max(0, e.Provider.ResetsMS-e.AtMS)) * time.Millisecond,
		}
	}
	return playback.Text{Text: e.Output.RawText(), Form: e.Form, Usage: events.Usage{Input: e.Tokens.In, Output: e.Tokens.Out}}
}
