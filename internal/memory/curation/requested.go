package curation

import (
	"context"
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

// Requested is the open request that text names: its name, its id, or the beginning of that which no other has.
func (f *Forgetter) Requested(ctx context.Context, text string) (one erasure.Requested, err error) {
	open, err := f.cfg.Eraser.Requests(ctx)
	if err != nil {
		return one, err
	}
	text = strings.ToLower(strings.TrimSpace(text))
	found := 0
	for _, asked := range open {
		byName := text == namePrefix+strconv.FormatUint(uint64(asked.Position), 10)
		if byName || len(text) >= len("00000000") && strings.HasPrefix(asked.ID.String(), text) {
			one, found = asked, found+1
		}
	}
	switch found {
	case 0:
		return one, refusal.Absent("no request to forget has that name, or it was answered: `cmemd forget --requests` lists those that are open")
	case 1:
		return one, nil
	}
	return one, conflict("More than one request begins so", fmt.Sprintf("%d do: give its name, as `cmemd forget --requests` shows it", found))
}

// Approve erases what a request names, with all that was made of it since, and ends the request.
func (f *Forgetter) Approve(ctx context.Context, text string, tell func(done, total uint64)) (done erasure.Done, err error) {
	asked, err := f.Requested(ctx, text)
	if err != nil {
		return done, err
	}
	done, err = f.cfg.Eraser.Forget(ctx, erasure.Request{Positions: asked.Positions}, func(n, total int) { tell(uint64(n), uint64(total)) })
	if err != nil || len(done.Refused) > 0 {
		return done, err // it stays open: whoever asks again goes on
	}
	at, err := f.cfg.Eraser.Settle(context.WithoutCancel(ctx), asked.ID, events.SettleApproved, events.WriterPerson)
	done.Position = max(done.Position, at)
	return done, err
}

// Refuse shows again what a request hides, and ends it.
func (f *Forgetter) Refuse(ctx context.Context, text string) (api.Refused, error) {
	asked, err := f.Requested(ctx, text)
	if err != nil {
		return api.Refused{}, err
	}
	at, err := f.cfg.Eraser.Settle(ctx, asked.ID, events.SettleRefused, events.WriterPerson)
	return api.Refused{ID: asked.ID, Position: at, Rows: asked.Rows}, err
}
