package turn

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// answer parses an output by its structure alone, holds what it claims against the evidence, and makes an answer of it. The
// time of the answer and its latency are not set.
func (t *Pipeline) answer(ctx context.Context, o observer.Provider, types observer.Types, p observer.Prompt, reply observer.Reply) *session.Answer {
	a := &session.Answer{
		ID: t.cfg.NewID(), Happened: newest(p.Inputs),
		Received: events.TurnReceived{
			Turn: p.Turn, Form: reply.Form, Output: reply.Text, StopReason: reply.StopReason,
		}.WithBill(billOf(o, reply.Bill, 1)),
	}
	parsed := observer.ParseForm(reply.Form, reply.Text, p.Kind, types)
	switch parsed.Disposition {
	case observer.DispositionSkip:
		a.Skipped = &events.OutputSkipped{Turn: p.Turn, Reason: string(parsed.Reason), Stated: parsed.SkipReason}
	case observer.DispositionDropped:
		a.Dropped = &events.OutputDropped{
			Turn: p.Turn, Class: string(parsed.Class), Reason: string(parsed.Reason), Preview: reply.Text.Preview(),
			Length: reply.Text.Len(),
		}
	default:
		t.keep(ctx, p, parsed, a)
	}
	a.Undone = t.workUndone(ctx, p, a.Observations)
	return a
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
func (t *Pipeline) keep(ctx context.Context, p observer.Prompt, parsed observer.Parsed, a *session.Answer) {
	read, modified := filesOf(p)
	modified = distinct(modified, t.shellChanges(ctx, p))
	touched := slices.Concat(read, modified)
	origin := t.originOf(ctx, p, modified)
	var texts []string // of each row, the summary's last
	for _, o := range parsed.Observations {
		made := events.ObservationParsed{
			Observation: t.cfg.NewID(), Turn: p.Turn, Type: o.Type, TypeGiven: o.TypeGiven, Title: o.Title,
			Subtitle: o.Subtitle, Narrative: o.Narrative, Facts: o.Facts, Concepts: o.Concepts,
			FilesRead: read, FilesModified: modified, FilesUnverified: unverified(p.Cwd, o, read, modified),
			Unseen: unseen(p, o, touched) || invented(p, o, touched),
			Origin: origin.class, Outside: origin.foreignInputs,
		}
		text := strings.Join(made.Texts(), "\n")
		made.Unsupported = unsupported(p, text, o.Type == observer.TypeDecision)
		a.Observations, texts = append(a.Observations, made), append(texts, text)
	}
	if m := parsed.Summary; m != nil {
		a.Summary = &events.SummaryParsed{
			Summary: t.cfg.NewID(), Turn: p.Turn, Request: m.Request, Investigated: m.Investigated, Learned: m.Learned,
			Completed: m.Completed, NextSteps: m.NextSteps, Notes: m.Notes, Origin: origin.class,
		}
		text := strings.Join(a.Summary.Texts(), "\n")
		a.Summary.Unseen = unseen(p, observer.Observation{Narrative: text}, touched)
		a.Summary.Unsupported = unsupported(p, text, false) || unsupported(p, m.NextSteps, true)
		texts = append(texts, text)
	}
	claims := t.checkClaims(ctx, p.Cwd, strings.Join(texts, "\n"))
	for i := range a.Observations {
		a.Observations[i].Claims = pick(claims, texts[i])
	}
	if a.Summary != nil {
		a.Summary.Claims = pick(claims, texts[len(texts)-1])
	}
}
