package scenarios

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/offline"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/replay"
	"github.com/cmemd/cmemd/internal/setting"
)

// replayLog replays a stretch of the log, writes it down, or reads its outputs anew.
func replayLog(ctx context.Context, a *terminal.App, log offline.Source, p replayPlan) error {
	sessions, err := sessionsNamed(ctx, a, log, p.sessions)
	if err != nil {
		return err
	}
	sel := replay.Selection{Sessions: sessions, Since: p.since, Until: p.until}
	switch {
	case p.parser:
		return reparse(ctx, a, log, sel)
	case p.toScenario != "":
		rec, err := replay.Record(withMeter(ctx, a, log, "reading"), p.wanted(sel))
		if err = orNoTurn(rec, err); err != nil {
			return err
		}
		return writeScenario(a, p, rec)
	}
	return replayStretch(ctx, a, log, p, sel)
}

// replayStretch proves that the stretch is explained by its own rules, and then plays it under others.
func replayStretch(ctx context.Context, a *terminal.App, log offline.Source, p replayPlan, sel replay.Selection) error {
	types, err := typesInForce(a)
	if err != nil {
		return err
	}
	proof, rec, err := replay.Examine(withMeter(ctx, a, log, "reading"), p.wanted(sel), types)
	if err = orNoTurn(rec, err); err != nil {
		return err
	}
	if n := len(rec.Lives); n > 0 { // policies differ in what they do, not in how often they may: that is as it was in force
		windowed := p.numbers.Windowed
		p.numbers = rec.Lives[n-1].Settings
		p.numbers.Windowed = windowed
	}
	c, err := p.compare(rec.Scenario)
	if err != nil {
		return err
	}
	c.log = &loggedReplay{rec, proof}
	if n := len(rec.Lives); n > 0 {
		c.live = string(rec.Lives[n-1].Policy)
	}
	c.notes = append(append(c.notes, stretchNotes(rec)...), limitsNote(rec.Lives))
	if note := recordNote(rec); note != "" {
		c.notes = append(c.notes, note)
	}
	if err := finish(a, p, c); err != nil {
		return err
	}
	if err := unproved(proof); err != nil {
		return a.MarkReported(err)
	}
	return a.MarkReported(c.ranAway())
}

// wanted is what is taken of a stretch.
func (p replayPlan) wanted(sel replay.Selection) replay.Wanted {
	return replay.Wanted{Selection: sel, Inputs: p.inputs, Respawn: p.respawn(replay.AssumedRespawn())}
}

// orNoTurn is err, or that of a recording without a turn: ErrNothing.
func orNoTurn(rec *replay.Recording, err error) error {
	if err == nil && len(rec.Scenario.Events) == 0 {
		return fmt.Errorf("%w: no turn ended in that stretch of the log", terminal.ErrNothing)
	}
	return err
}

// limitsNote says under which limits the policies were played.
func limitsNote(lives []replay.Life) string {
	if len(lives) == 0 {
		return "No start of a daemon is in view: the policies are played with the default limits."
	}
	l := lives[len(lives)-1].Settings
	r := l.Restarts.Limits()
	note := fmt.Sprintf("Played with the limits that were in force: %d restarts in %s and %d in a row, quarantines of %s to %s, pauses of %s to %s",
		r.MaxRestarts, setting.ShortDuration(r.Window), r.MaxConsecutive, setting.ShortDuration(l.Quarantine.First),
		setting.ShortDuration(l.Quarantine.Cap),
		setting.ShortDuration(l.Pause.First), setting.ShortDuration(l.Pause.Cap))
	if u := l.Unparseable.Limits(); lives[len(lives)-1].Policy == policy.Supervised {
		note += fmt.Sprintf(", %d unparseable outputs in %s at most every %s", u.Unparseable, setting.ShortDuration(u.Window), setting.ShortDuration(u.Every))
	}
	if len(lives) > 1 {
		note += fmt.Sprintf(". They were changed %s in that stretch; these are the last", number.Plural(len(lives)-1, "time"))
	}
	return note + "."
}

// recordNote says what supervision did on record, beside which the row of the live policy can be held.
func recordNote(rec *replay.Recording) string {
	var parts []string
	for _, cause := range slices.Sorted(maps.Keys(rec.Respawned)) {
		parts = append(parts, fmt.Sprintf("%s (%s)", number.Plural(rec.Respawned[cause], "respawn"), cause))
	}
	if rec.Quarantined > 0 {
		parts = append(parts, number.Plural(rec.Quarantined, "quarantine"))
	}
	note := ""
	if len(parts) > 0 {
		note = "On record: " + strings.Join(parts, ", ") + ". "
	}
	var given []string
	all := 0
	for _, why := range slices.Sorted(maps.Keys(rec.GivenUp)) {
		all += rec.GivenUp[why]
		given = append(given, fmt.Sprintf("%d %s", rec.GivenUp[why], why))
	}
	if all > 0 {
		note += fmt.Sprintf("%s given up by name (%s): no policy's figures count them, `cmemd outcomes` lists them.", number.Plural(all, "input"), strings.Join(given, ", "))
	}
	return strings.TrimSpace(note)
}

// stretchNotes says where a recording comes from and what it lacks.
func stretchNotes(rec *replay.Recording) []string {
	notes := []string{fmt.Sprintf("From the log, positions %d to %d, %s.", rec.First, rec.Last, number.Plural(rec.Sessions, "session"))}
	if n := len(rec.Gaps) + rec.More; n > 0 {
		notes = append(notes, fmt.Sprintf("%s in it; the first, at position %d: %s.", number.Plural(n, "gap"), rec.Gaps[0].Position, rec.Gaps[0].Why))
	}
	return notes
}

// unproved is the error of a stretch that its own rules do not explain; nil if they do.
func unproved(p replay.Proof) error {
	if p.Holds() {
		return nil
	}
	first := p.Differences[0]
	return fmt.Errorf("%d recorded decisions are not explained by their rules; the first is at position %d: %s",
		p.DifferenceCount(), first.Position, first.Why)
}

// writeScenario writes a recording as a scenario's file.
func writeScenario(a *terminal.App, p replayPlan, rec *replay.Recording) error {
	write := func(w io.Writer) error {
		b, err := terminal.Marshal(rec.Scenario, " ")
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	}
	notes := append(stretchNotes(rec), fmt.Sprintf("It holds %s of the observer, which may tell of what they were about.", number.Plural(len(rec.Scenario.Events), "output")))
	if p.inputs {
		notes = append(notes, "Warning: it also holds what was captured from agents: prompts, commands, contents of files. Look through it before you pass it on.")
	}
	if p.toScenario == "-" {
		a.Infof("%s", terminal.VisibleLine(strings.Join(notes, "\n")))
		return write(a.Out)
	}
	n, err := homedir.WriteFile(a, p.toScenario, p.force, write)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{
			"file": p.toScenario, "bytes": n, "events": len(rec.Scenario.Events), "inputs": p.inputs, "stretch": stretchOf(rec), "notes": notes,
		})
	}
	a.Printf("wrote %s, %s, to %s\n", number.Plural(len(rec.Scenario.Events), "event"), terminal.Size(n), terminal.VisibleLine(p.toScenario))
	for _, note := range notes {
		a.Infof("%s", terminal.VisibleLine(note))
	}
	return nil
}
