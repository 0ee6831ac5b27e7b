package curation

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/memory/erasure"
)

// requester is an Eraser of requests alone: it erases nothing, and settles those that are open.
type requester struct {
	Eraser
	open []events.ID
}

func (r *requester) Forget(context.Context, erasure.Request, func(done, total int)) (erasure.Done, error) {
	return erasure.Done{Records: 3, Position: 7}, nil
}

func (r *requester) Settle(ctx context.Context, id events.ID, _ events.SettleOutcome, _ events.Writer) (events.Position, error) {
	n := slices.Index(r.open, id)
	if n < 0 {
		return 0, erasure.ErrNoRequest
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	r.open = slices.Delete(r.open, n, n+1)
	return events.Position(10 - len(r.open)), nil
}

// TestAnsweredMeanwhile: of some requests, what somebody else answered is passed over, and those behind it are answered all the same,
// also where whoever asks has gone.
func TestAnsweredMeanwhile(t *testing.T) {
	t.Parallel()
	var asked []erasure.Requested
	for range 3 {
		asked = append(asked, erasure.Requested{ID: newID(), Rows: []events.ID{newID()}})
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		open     []int // of asked, as the answer comes
		rows     []int // of asked, that are shown again when it is refused
		position events.Position
		refused  error
	}{
		"none":    {[]int{0, 1, 2}, []int{0, 1, 2}, 10, nil},
		"first":   {[]int{1, 2}, []int{1, 2}, 10, nil},
		"between": {[]int{0, 2}, []int{0, 2}, 10, nil},
		"last":    {[]int{0, 1}, []int{0, 1}, 10, nil},
		"all":     {nil, nil, 0, erasure.ErrNoRequest},
	} {
		open := func() (r *requester) {
			r = &requester{}
			for _, n := range c.open {
				r.open = append(r.open, asked[n].ID)
			}
			return r
		}
		rows := []events.ID{}
		for _, n := range c.rows {
			rows = append(rows, asked[n].Rows...)
		}
		r := open()
		done, err := NewForgetter(ForgetterConfig{Eraser: r}).Approve(gone, asked, func(done, total uint64) {})
		if err != nil || done.Records != 3 || done.Position != max(c.position, 7) || len(r.open) != 0 {
			t.Errorf("%s, approved: %+v, %v; %d open, want a receipt and none", name, done, err, len(r.open))
		}
		r = open()
		refused, err := NewForgetter(ForgetterConfig{Eraser: r}).Refuse(gone, asked)
		if diff := cmp.Diff(rows, refused.Rows); diff != "" || !errors.Is(err, c.refused) || refused.Position != c.position || len(r.open) != 0 {
			t.Errorf("%s, refused: at %d, %v; %d open; rows (-want +got):\n%s", name, refused.Position, err, len(r.open), diff)
		}
	}
}
