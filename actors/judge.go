package actors

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// judge parses an output by its structure alone, sets what it claims beside ground truth, and makes an answer of it.
func (s *System) judge(ctx context.Context, o *Offer, p observer.Prompt, reply observer.Reply, latency time.Duration) outcome {
	a := &session.Answer{
		ID: s.cfg.NewID(), At: s.cfg.Now(), Happened: newest(p.Inputs),
		Received: events.TurnReceived{
			Turn: p.Turn, Form: reply.Form, Output: reply.Text, StopReason: reply.StopReason, LatencyMS: latency.Milliseconds(),
		}.WithBill(o.bill(reply.Bill, 1)),
	}
	parsed := observer.ParseForm(reply.Form, reply.Text, p.Kind, o.Mode.TypeIDs())
	switch parsed.Disposition {
	case observer.DispositionSkip:
		a.Skipped = &events.OutputSkipped{Turn: p.Turn, Reason: string(parsed.Reason), Stated: parsed.SkipReason}
	case observer.DispositionDropped:
		a.Dropped = &events.OutputDropped{
			Turn: p.Turn, Class: string(parsed.Class), Reason: string(parsed.Reason), Preview: reply.Text.Preview(),
			Length: reply.Text.Len(),
		}
	default:
		s.keep(ctx, p, parsed, a)
	}
	s.note(p.Cwd, a.Happened)
	return outcome{turn: p.Turn, answer: a}
}

// unless is what really answered, where it is not what was asked.
func unless(answered, asked string) string {
	if answered == asked {
		return ""
	}
	return answered
}

// newest is when the last of the inputs happened: what is said about them is dated by it, not by when it was said. A
// history that is read years later keeps its years.
func newest(inputs []observer.Input) time.Time {
	var at time.Time
	for _, in := range inputs {
		if in.At.After(at) {
			at = in.At
		}
	}
	return at
}

// keep turns parsed content into events. Files that were modified come from the batch, and from the working tree where a
// shell changed them; what was only claimed is kept apart.
func (s *System) keep(ctx context.Context, p observer.Prompt, parsed observer.Parsed, a *session.Answer) {
	read, modified := filesOf(p)
	modified = distinct(modified, s.shellChanges(ctx, p))
	touched := slices.Concat(read, modified)
	claims := s.checkClaims(ctx, p.Cwd, parsed)
	for _, o := range parsed.Observations {
		a.Observations = append(a.Observations, events.ObservationParsed{
			Observation: s.cfg.NewID(), Turn: p.Turn, Type: o.Type, TypeGiven: o.TypeGiven, Title: o.Title,
			Subtitle: o.Subtitle, Narrative: o.Narrative, Facts: o.Facts, Concepts: o.Concepts,
			FilesRead: read, FilesModified: modified, FilesUnverified: unverified(p.Cwd, o, read, modified),
			Claims: pick(claims, observationText(o)), Unseen: unseen(p, o, touched),
		})
	}
	if m := parsed.Summary; m != nil {
		a.Summary = &events.SummaryParsed{
			Summary: s.cfg.NewID(), Turn: p.Turn, Request: m.Request, Investigated: m.Investigated, Learned: m.Learned,
			Completed: m.Completed, NextSteps: m.NextSteps, Notes: m.Notes, Claims: pick(claims, summaryText(*m)),
		}
	}
}

// checkClaims looks up every commit that the output names, once, in the session's repository.
func (s *System) checkClaims(ctx context.Context, cwd string, parsed observer.Parsed) []events.Claim {
	var text strings.Builder
	for _, o := range parsed.Observations {
		text.WriteString(observationText(o))
	}
	if parsed.Summary != nil {
		text.WriteString(summaryText(*parsed.Summary))
	}
	hashes := evidence.Claims(text.String())
	if len(hashes) == 0 {
		return nil
	}
	if s.cfg.Checker != nil {
		return s.cfg.Checker.Check(ctx, cwd, hashes)
	}
	var claims []events.Claim
	for _, h := range hashes {
		claims = append(claims, events.Claim{Kind: "commit", Value: h, Verdict: events.Unknown, Evidence: "nothing to check it with"})
	}
	return claims
}

// pick returns the claims that text itself makes.
func pick(claims []events.Claim, text string) []events.Claim {
	var out []events.Claim
	for _, h := range evidence.Claims(text) {
		if i := slices.IndexFunc(claims, func(c events.Claim) bool { return c.Value == h }); i >= 0 {
			out = append(out, claims[i])
		}
	}
	return out
}

func observationText(o observer.Observation) string {
	return o.Title + "\n" + o.Subtitle + "\n" + o.Narrative + "\n" + strings.Join(o.Facts, "\n") + "\n"
}

func summaryText(m observer.Summary) string {
	return strings.Join([]string{m.Request, m.Investigated, m.Learned, m.Completed, m.NextSteps, m.Notes, ""}, "\n")
}
