package api

import "context"

// Reobserve asks for turns again, or with DryRun says what that would take. It does not wait for the answers.
func (c *Client) Reobserve(ctx context.Context, q ReobserveRequest) (Reobserved, error) {
	q.Wait = false
	return ask[Reobserved](ctx, c, "POST", "/v1/reobserve", nil, q)
}

// ReobserveAndWait asks for turns again and returns when they are answered, or when something holds them up: Stopped. Progress
// counts inputs and may be nil; from its first call on all is asked for, and will be answered whoever waits.
func (c *Client) ReobserveAndWait(ctx context.Context, q ReobserveRequest, progress func(Progress)) (Reobserved, error) {
	q.Wait, q.DryRun = true, false
	return work[Reobserved](ctx, c, "POST", "/v1/reobserve", nil, q, progress)
}

// Recheck has claims looked at again. Progress counts claims and may be nil.
func (c *Client) Recheck(ctx context.Context, q RecheckRequest, progress func(Progress)) (Rechecked, error) {
	return work[Rechecked](ctx, c, "POST", "/v1/recheck", nil, q, progress)
}
