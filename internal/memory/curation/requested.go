package curation

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/erasure"
	"github.com/cmemd/cmemd/internal/refusal"
)

// namePrefix begins the name of a request; behind it comes the position of its first record.
const namePrefix = "f"

// Ask keeps as a request what an agent wants forgotten, and hides its rows. A zero Records says that nothing fits.
func (f *Forgetter) Ask(ctx context.Context, req erasure.Request, by events.Writer) (api.OpenRequest, error) {
	asked, err := f.cfg.Eraser.Ask(ctx, req, by)
	if err != nil || asked.Records == 0 {
		return api.OpenRequest{Requested: asked}, err
	}
	return f.shown(ctx, asked)
}

// Requests lists the open requests, oldest first, each with some of what is left of what it names.
func (f *Forgetter) Requests(ctx context.Context) ([]api.OpenRequest, error) {
	open, err := f.cfg.Eraser.Requests(ctx)
	list := make([]api.OpenRequest, len(open))
	for i, asked := range open {
		if list[i], err = f.shown(ctx, asked); err != nil {
			return nil, err
		}
	}
	return list, err
}

func (f *Forgetter) shown(ctx context.Context, asked erasure.Requested) (api.OpenRequest, error) {
	plan, err := f.cfg.Eraser.Plan(ctx, erasure.Request{Positions: asked.Positions})
	asked.Records = plan.Records
	return api.OpenRequest{Name: namePrefix + strconv.FormatUint(uint64(asked.Position), 10), Requested: asked, Sample: plan.Sample}, err
}

// Requested is the open request that text names, by its name, its id, or the beginning of that which no other has; or all that are open.
// What was asked behind position through is not looked at; 0: there is no such bound.
func (f *Forgetter) Requested(ctx context.Context, text string, through events.Position) (found []erasure.Requested, err error) {
	open, err := f.cfg.Eraser.Requests(ctx)
	if err != nil {
		return nil, err
	}
	text = strings.ToLower(strings.TrimSpace(text))
	for _, asked := range open {
		if through > 0 && asked.Position > through {
			break // they are in the order in which they were asked
		}
		byName := text == api.AllRequests || text == namePrefix+strconv.FormatUint(uint64(asked.Position), 10)
		if byName || len(text) >= len("00000000") && strings.HasPrefix(asked.ID.String(), text) {
			found = append(found, asked)
		}
	}
	switch {
	case len(found) == 0:
		return nil, refusal.Absent("no request to forget has that name, or it was answered: `cmemd forget --requests` lists those that are open")
	case len(found) > 1 && text != api.AllRequests:
		return nil, conflict("More than one request begins so", fmt.Sprintf("%d do: give its name, as `cmemd forget --requests` shows it", len(found)))
	}
	return found, nil
}

// NamedBy is what some requests name.
func NamedBy(asked []erasure.Requested) (named erasure.Request) {
	for _, r := range asked {
		named.Positions = append(named.Positions, r.Positions...)
	}
	return named
}

// Approve erases what some requests name, with all that was made of it since, and ends them.
func (f *Forgetter) Approve(ctx context.Context, asked []erasure.Requested, progress func(done, total uint64)) (done erasure.Done, err error) {
	done, err = f.cfg.Eraser.Forget(ctx, NamedBy(asked), func(n, total int) { progress(uint64(n), uint64(total)) })
	if err != nil || len(done.Refused) > 0 {
		return done, err // they stay open: whoever asks again goes on
	}
	_, at, err := f.settle(ctx, asked, events.SettleApproved)
	done.Position = max(done.Position, at)
	return done, err
}

// Refuse shows again what some requests hide, and ends them. The error is erasure.ErrNoRequest where each was answered meanwhile.
func (f *Forgetter) Refuse(ctx context.Context, asked []erasure.Requested) (out api.Refused, err error) {
	out.Rows = []events.ID{}
	settled, at, err := f.settle(ctx, asked, events.SettleRefused)
	if err == nil && len(settled) == 0 {
		err = erasure.ErrNoRequest
	}
	for _, r := range settled {
		out.Rows = append(out.Rows, r.Rows...)
	}
	if len(asked) == 1 {
		out.ID = asked[0].ID
	}
	out.Position = at
	return out, err
}

// settle ends requests, also when ctx is done: what is begun is done whole. It returns those that it ended, and the position of the last
// record that says so. One that was answered meanwhile stays as it was answered.
func (f *Forgetter) settle(ctx context.Context, asked []erasure.Requested, outcome events.SettleOutcome) (settled []erasure.Requested, at events.Position, err error) {
	ctx = context.WithoutCancel(ctx)
	for _, r := range asked {
		p, err := f.cfg.Eraser.Settle(ctx, r.ID, outcome, events.WriterPerson)
		if errors.Is(err, erasure.ErrNoRequest) {
			continue
		}
		if err != nil {
			return settled, at, err
		}
		settled, at = append(settled, r), p
	}
	return settled, at, nil
}
