package server

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/replay"
	"github.com/cmemd/cmemd/internal/replay/report"
)

const (
	// maxOutputBytes is how many bytes of records that end turns a stretch may have: their outputs are in memory while it is played.
	maxOutputBytes = 64 << 20

	replayPlaces = 120  // stretches of time in a strip, as in a report
	progressEach = 1024 // records between two words of how far it is
)

// replays plays stretches of the log under other policies, one at a time.
type replays struct {
	*sources
	types   replay.TypesOf
	version string
	playing sync.Mutex // held while one is played
}

func (s *replays) routes(to *dispatcher) []endpoint {
	return []endpoint{bindWork(to, api.ReplayRoute, s.postReplay)}
}

// errLongStretch is a stretch that does not fit in memory.
var errLongStretch = conflict("The stretch is too long", "its outputs have more than 64 MiB: narrow it by since, until or sessions; "+
	"`cmemd replay` plays what this does not")

func (s *replays) postReplay(ctx context.Context, q api.ReplayRequest) (task[api.Replayed], error) {
	sel := replay.Selection{Since: q.Since, Until: q.Until}
	for _, text := range q.Sessions {
		id, err := s.sessionID(ctx, text)
		if err != nil {
			return nil, err
		}
		sel.Sessions = append(sel.Sessions, id)
	}
	return func(ctx context.Context, progress func(done, total uint64)) (api.Replayed, error) {
		if !s.playing.TryLock() {
			return api.Replayed{}, notNow(api.ProblemBusy, "Another stretch is being played", 5*time.Second, "try again when that has ended")
		}
		defer s.playing.Unlock()
		return s.play(ctx, q, sel, progress)
	}, nil
}

// play reads a stretch, proves it, and plays it.
func (s *replays) play(
	ctx context.Context, q api.ReplayRequest, sel replay.Selection, progress func(done, total uint64),
) (api.Replayed, error) {
	last, err := s.own().Last(ctx)
	if err != nil {
		return api.Replayed{}, err
	}
	wanted := replay.Wanted{Selection: sel, Respawn: replay.AssumedRespawn()}
	proof, rec, err := replay.Examine(readFor(sel, s.own().All(ctx, 1), last, progress), wanted, s.types)
	switch {
	case err != nil:
		return api.Replayed{}, err
	case len(rec.Scenario.Events) == 0:
		return api.Replayed{}, notFound("no turn ended in that stretch of the log")
	}
	live, numbers := policy.Live()[0], policy.Settings{}
	if n := len(rec.Lives); n > 0 {
		live, numbers = rec.Lives[n-1].Policy, rec.Lives[n-1].Settings
	}
	names := slices.DeleteFunc(policy.Names(), func(n policy.Name) bool {
		return len(q.Policies) > 0 && n != live && !slices.Contains(q.Policies, n)
	})
	results, err := replay.Compare(rec.Scenario, names, replay.Options{Settings: numbers})
	if err != nil {
		return api.Replayed{}, err
	}
	var runs []report.Run
	for _, n := range names {
		runs = append(runs, report.Run{Policy: string(n), Result: results[n]})
	}
	out := replayedOf(rec, runs, string(live))
	proof.Decisions, proof.Differences, proof.Unproven = list(proof.Decisions), list(proof.Differences), list(proof.Unproven)
	out.Proof = api.ReplayProofOf(proof)
	if !q.Report {
		return out, ctx.Err()
	}
	var page strings.Builder
	err = report.Write(&page, rec.Scenario, runs, report.Options{Live: string(live), Began: rec.Began, Program: "cmemd " + s.version, Proof: &proof})
	out.Report = page.String()
	return out, cmp.Or(err, ctx.Err())
}

// readFor are records as they are read for a stretch: it tells how far that is, and ends where outputs become too many.
func readFor(
	sel replay.Selection, records iter.Seq2[events.Record, error], last events.Position, progress func(done, total uint64),
) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		held := 0
		for r, err := range records {
			if err == nil && r.Position%progressEach == 0 {
				progress(uint64(r.Position), uint64(max(last, r.Position)))
			}
			if err == nil && r.Kind == events.KindTurnReceived && !r.RecordedAt.Before(sel.Since) && (sel.Until.IsZero() || r.RecordedAt.Before(sel.Until)) {
				held += int(r.Size)
			}
			if held > maxOutputBytes {
				err = errLongStretch
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// replayedOf is what policies made of a recording.
func replayedOf(rec *replay.Recording, runs []report.Run, live string) api.Replayed {
	a := rec.Scenario.Respawn
	out := api.Replayed{
		Verdict: report.Verdict(runs, live), Live: policy.Name(live), Began: rec.Began.UTC(), EndMS: report.End(rec.Scenario),
		Events: len(rec.Scenario.Events), Stretch: *rec,
		Assumed: api.ReplayAssumed{DelayMS: a.DelayMS, TokensIn: a.Tokens.In, TokensOut: a.Tokens.Out},
	}
	for _, l := range report.Lanes() {
		out.Lanes = append(out.Lanes, api.ReplayedLane{Letter: string(l.Letter()), Name: l.String(), Note: l.Note()})
	}
	folded := report.GroupEqual(runs)
	own := folded[slices.IndexFunc(folded, func(e report.Equal) bool { return slices.Contains(e.Policies, live) })]
	for _, e := range folded {
		p := api.ReplayedPolicy{Live: slices.Contains(e.Policies, live), Figures: e.Result, Strip: stripOf(rec.Scenario, e.Result)}
		for _, name := range e.Policies {
			p.Names = append(p.Names, api.ReplayedName{Name: policy.Name(name), Words: policy.Name(name).Words()})
		}
		p.Differences, p.More = differences(rec.Scenario, own.Result.Decisions, e.Result.Decisions)
		p.Figures.Decisions = []string{}
		out.Policies = append(out.Policies, p)
	}
	return out
}

// stripOf is a result as letters over time.
func stripOf(sc *replay.Scenario, r replay.Result) string {
	var b strings.Builder
	for _, cell := range report.Strip(sc, r, replayPlaces) {
		letter := byte(' ')
		if l, ok := cell.Most(); ok {
			letter = l.Letter()
		}
		b.WriteByte(letter)
	}
	return b.String()
}

// differences are the first decisions that are not the same, and how many there are beyond those.
func differences(sc *replay.Scenario, live, other []string) (found []api.ReplayedDecision, more int) {
	found = []api.ReplayedDecision{}
	for i, e := range sc.Events[:min(len(sc.Events), len(live), len(other))] {
		switch {
		case live[i] == other[i]:
		case len(found) == api.MaxDecisions:
			more++
		default:
			found = append(found, api.ReplayedDecision{
				AtMS: e.AtMS, Position: events.Position(e.Position), Turn: e.Turn, Session: e.Session, Live: live[i], Other: other[i],
			})
		}
	}
	return found, more
}
