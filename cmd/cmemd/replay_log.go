package main

import (
	"context"
	"fmt"
	"io"

	"github.com/cmemd/cmemd/replay"
	"github.com/cmemd/cmemd/replay/report"
)

// loggedReplay is what is known of a stretch of a log beside its scenario.
type loggedReplay struct {
	recording *replay.Recording
}

func (l *loggedReplay) page() *report.Proof { return nil }

// replayLog replays a stretch of the log, or writes it down.
func (a *app) replayLog(ctx context.Context, log logSource, p replayPlan) error {
	sessions, err := a.sessionsNamed(ctx, log, p.sessions)
	if err != nil {
		return err
	}
	sel := replay.Selection{Sessions: sessions, Since: p.from, Until: p.to}
	rec, err := a.recorded(ctx, log, p, sel)
	if err != nil {
		return err
	}
	if p.toScenario != "" {
		return a.writeScenario(p, rec)
	}
	c, err := p.compare(rec.Scenario)
	if err != nil {
		return err
	}
	c.log = &loggedReplay{rec}
	c.notes = append(c.notes, stretchNotes(rec)...)
	return a.finish(p, c)
}

// recorded takes the stretch as a scenario. One without a turn is errNothing.
func (a *app) recorded(ctx context.Context, log logSource, p replayPlan, sel replay.Selection) (*replay.Recording, error) {
	assumed := replay.Respawn{DelayMS: openingDelay.Milliseconds(), Tokens: replay.Tokens{In: openingIn, Out: openingOut}}
	rec, err := replay.Record(a.watched(ctx, log, "reading"), replay.Wanted{Selection: sel, Inputs: p.inputs, Respawn: p.respawn(assumed)})
	if err != nil {
		return nil, err
	}
	if len(rec.Scenario.Events) == 0 {
		return nil, fmt.Errorf("%w: no turn ended in that stretch of the log", errNothing)
	}
	return rec, nil
}

// stretchNotes says where a recording comes from and what it lacks.
func stretchNotes(rec *replay.Recording) []string {
	notes := []string{fmt.Sprintf("From the log, positions %d to %d, %s.", rec.First, rec.Last, plural(rec.Sessions, "session"))}
	if n := len(rec.Gaps) + rec.More; n > 0 {
		notes = append(notes, fmt.Sprintf("%s in it; the first, at position %d: %s.", plural(n, "gap"), rec.Gaps[0].Position, rec.Gaps[0].Why))
	}
	return notes
}

// writeScenario writes a recording as a scenario's file.
func (a *app) writeScenario(p replayPlan, rec *replay.Recording) error {
	write := func(w io.Writer) error {
		b, err := marshal(rec.Scenario, " ")
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	}
	if p.toScenario == "-" {
		if err := write(a.out); err != nil {
			return err
		}
	} else if err := a.copyTo(p.toScenario, p.force, write); err != nil {
		return err
	}
	for _, note := range stretchNotes(rec) {
		a.say("%s", visibleLine(note))
	}
	a.say("it holds %s of the observer, which may tell of what they were about", plural(len(rec.Scenario.Events), "output"))
	if p.inputs {
		a.say("warning: it also holds what agents captured: prompts, commands, and the contents of files; look through it before you pass it on")
	}
	return nil
}
