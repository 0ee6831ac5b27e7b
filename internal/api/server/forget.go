package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/curation"
	"github.com/cmemd/cmemd/internal/memory/erasure"
	"github.com/cmemd/cmemd/internal/peer"
)

// postForget says what would be forgotten, or forgets it.
func (s *memories) postForget(ctx context.Context, q api.ForgetRequest) (task[any], error) {
	err := s.begin(ctx, q.IDs)
	if err == nil && !q.DryRun && callerOf(ctx).process().Folder != "" { // elsewhere nothing tells where an agent works
		ctx = inFolder(ctx)
		err = s.restrict(ctx, &q)
	}
	if err != nil {
		return nil, err
	}
	chosen, err := s.chosenToForget(ctx, q)
	return func(ctx context.Context, progress func(done, total uint64)) (any, error) {
		switch {
		case q.DryRun:
			plan, spooled, err := s.forgetter.Plan(ctx, chosen)
			return api.ForgetPlan{Plan: plan, Spooled: spooled.Chosen, Unopened: spooled.Unopened}, forgetProblem(err)
		case writerOf(ctx) != events.WriterPerson:
			return s.askToForget(ctx, chosen)
		}
		if err := s.agreed(ctx, q.Through, q.Records, chosen); err != nil {
			return nil, err
		}
		began := time.Now()
		done, spooled, err := s.forgetter.Forget(ctx, chosen, progress)
		out := forgottenOf(done)
		out.Elsewhere = s.elsewhere(ctx, began, done)
		out.Spooled, out.Unopened = spooled.Chosen, spooled.Unopened
		return out, forgetProblem(err)
	}, err
}

// agreed returns why what is chosen is not what a person said yes to: so many records of the plan at position through. The page asks for
// nothing that was not planned before.
func (s *memories) agreed(ctx context.Context, through events.Position, records *int, chosen erasure.Request) error {
	if records == nil {
		if callerOf(ctx).viewer == "" {
			return nil
		}
		return invalid("/records", "is missing: plan with dry_run first, and give back its position as through and how many records a person said yes to")
	}
	if through == 0 {
		return invalid("/through", "is missing: give the position of the plan")
	}
	plan, _, err := s.forgetter.Plan(ctx, chosen)
	if err == nil && plan.Records != *records {
		err = conflict("The plan was another", fmt.Sprintf("%d records would go, and not %d: nothing did; plan again", plan.Records, *records))
	}
	return forgetProblem(err)
}

// elsewhere says where else what was erased since a time is gone.
func (s *memories) elsewhere(ctx context.Context, began time.Time, done erasure.Done) *api.Elsewhere {
	if s.machines == nil || done.Records+done.Asked == 0 {
		return nil
	}
	return s.machines.Elsewhere(ctx, began)
}

// forgottenOf says what an erasure came to.
func forgottenOf(done erasure.Done) api.Forgotten {
	out := api.Forgotten{Position: done.Position, Records: done.Records, Sessions: done.Sessions, Asked: done.Asked, Unread: done.Unread}
	for _, r := range done.Refused {
		out.Refused = append(out.Refused, api.RefusedSession{Session: r.Session, Detail: reasonOf(r.Err)})
	}
	return out
}

// askToForget keeps as a request what an agent wants forgotten.
func (s *memories) askToForget(ctx context.Context, chosen erasure.Request) (any, error) {
	if err := answerable(peer.Known); err != nil {
		return nil, err
	}
	asked, err := s.forgetter.Ask(ctx, chosen, events.WriterAgent)
	if err != nil || asked.Records == 0 {
		return api.Forgotten{Others: asked.Others}, forgetProblem(err)
	}
	return api.Forgotten{Position: asked.Position, Request: &asked, Others: asked.Others}, nil
}

// answerable refuses a request where no command is known to be a person's: it would hide memory, and nobody could answer it.
func answerable(known bool) error {
	if known {
		return nil
	}
	return forbidden("nothing was forgotten or hidden: that is for the person to decide, and " + peer.Advice(known))
}

// getForgetRequests lists what agents asked to forget.
func (s *memories) getForgetRequests(ctx context.Context, _ api.NoQuery) (out api.OpenRequests, err error) {
	out.Position = s.Views.Position()
	out.Requests, err = s.forgetter.Requests(ctx)
	return out, err
}

// postApprove erases what an agent asked to forget, with all that was made of it since, unless a person said yes to another number. What
// was asked since their plan is none of it.
func (s *memories) postApprove(ctx context.Context, q api.ApproveRequest) (task[api.Forgotten], error) {
	if err := s.caughtUp(ctx); err != nil {
		return nil, err
	}
	asked, err := s.forgetter.Requested(ctx, q.ID, q.Through)
	return func(ctx context.Context, progress func(done, total uint64)) (api.Forgotten, error) {
		if err := s.agreed(ctx, q.Through, q.Records, curation.NamedBy(asked)); err != nil {
			return api.Forgotten{}, err
		}
		began := time.Now()
		done, err := s.forgetter.Approve(ctx, asked, progress)
		out := forgottenOf(done)
		out.Elsewhere = s.elsewhere(ctx, began, done)
		return out, forgetProblem(err)
	}, err
}

// postRefuse shows again what an agent asked to forget.
func (s *memories) postRefuse(ctx context.Context, q api.IDQuery) (api.Refused, error) {
	asked, err := s.forgetter.Requested(ctx, q.ID, 0)
	if err != nil {
		return api.Refused{}, err
	}
	refused, err := s.forgetter.Refuse(ctx, asked)
	return refused, forgetProblem(err)
}

// chosenToForget reads the names by which q chooses. A session that only saved memories name is none of ours.
func (s *memories) chosenToForget(ctx context.Context, q api.ForgetRequest) (erasure.Request, error) {
	if q.Request != "" {
		return s.requestedToForget(ctx, q)
	}
	chosen := erasure.Request{
		Query: q.Query, Project: q.Project, Since: q.Since, Until: q.Until, Through: q.Through, Named: q.Session,
	}
	if p := s.projectOf(ctx, q.Project); p.Root != "" {
		chosen.Project, chosen.ProjectKey = p.Root, p.Key
	}
	for _, text := range q.IDs {
		id, err := s.Recall.Resolve(ctx, text)
		if err != nil {
			return chosen, err
		}
		row, err := s.Views.Row(ctx, id)
		if err == nil {
			err = s.mayReach(ctx, row.ProjectRoot, row.Project)
		}
		if err != nil {
			return chosen, err
		}
		chosen.IDs = append(chosen.IDs, id)
	}
	of, err := s.narrow(ctx, "", q.Session, "")
	if isNotFound(err) {
		return chosen, nil
	}
	chosen.Session = of.Session
	return chosen, err
}

// requestedToForget is what an open request names.
func (s *memories) requestedToForget(ctx context.Context, q api.ForgetRequest) (erasure.Request, error) {
	if !q.DryRun || !q.ChoosesNothing() {
		return erasure.Request{}, invalid("/request", "is planned alone, with dry_run: it is approved or refused by routes of its own")
	}
	asked, err := s.forgetter.Requested(ctx, q.Request, 0)
	return curation.NamedBy(asked), err
}

// forgetProblem names what only an Eraser returns.
func forgetProblem(err error) error {
	switch {
	case errors.Is(err, erasure.ErrNothingNamed):
		return invalid("", "nothing is chosen: give one of ids, query, session, project, since, until")
	case errors.Is(err, erasure.ErrShortQuery):
		return invalid("/query", "is too short: half of everything would hold it")
	case errors.Is(err, erasure.ErrManyRequests):
		return conflict("Too many requests to forget are open", "the person answers them first: `cmemd forget --requests` lists them, `cmemd forget --refuse all` refuses all")
	case errors.Is(err, erasure.ErrOthersRecords):
		return conflict("Another machine recorded it", "a person has it forgotten, by `cmemd forget`; an agent, where it was recorded")
	case errors.Is(err, erasure.ErrNoRequest):
		return notFound("the request was answered meanwhile")
	}
	return err
}
