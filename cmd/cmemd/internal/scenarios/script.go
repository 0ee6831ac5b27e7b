package scenarios

import (
	"errors"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/playback"
	"github.com/cmemd/cmemd/internal/replay"
)

// Script plays the turns of a scenario in their order, each kind for turns of its kind, as fast as they are asked
// for. An observer that a policy would have respawned has no place in it: what a new one would have said is assumed, and
// a daemon has its own.
func Script(s *replay.Scenario) (*playback.Script, error) {
	script := &playback.Script{Model: s.ID, BatchLimits: policy.ModelLimits()}
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
