package server

import (
	"context"
	"time"

	"github.com/cmemd/cmemd/internal/api"
)

// Membership changes which machines share memory. A *sharing.Sharing of the daemon is one.
type Membership interface {
	Join(ctx context.Context, q api.ClusterJoin) (api.ClusterJoined, error)
	Invite(ctx context.Context, q api.ClusterInvite) (api.ClusterInvitation, error)
	Leave(ctx context.Context, q api.ClusterLeave) (api.ClusterLeft, error)
	Revoke(ctx context.Context, q api.ClusterRevoke) (api.ClusterRevoked, error)
}

// Machines are those that share memory with this one.
type Machines interface {
	Membership
	Status(ctx context.Context) (api.Cluster, error)
	Flush(ctx context.Context) (api.ClusterFlushed, error)
	Verify(ctx context.Context, progress func(done, total uint64)) (api.ClusterVerified, error)
	// Elsewhere says who confirmed what was asked to be forgotten since a time, and waits some seconds for that; nil: nobody has to.
	Elsewhere(ctx context.Context, since time.Time) *api.Elsewhere
}

// clusters answers about the machines that share memory.
type clusters struct {
	machines Machines // nil: this daemon shares nothing
}

func (s *clusters) routes(to *dispatcher) []endpoint {
	return []endpoint{
		bind(to, api.ClusterRoute, s.getCluster),
		bindWork(to, api.ClusterJoinRoute, worker(s, Machines.Join)),
		bindWork(to, api.ClusterInviteRoute, worker(s, Machines.Invite)),
		bindWork(to, api.ClusterLeaveRoute, worker(s, Machines.Leave)),
		bindWork(to, api.ClusterRevokeRoute, worker(s, Machines.Revoke)),
		bindWork(to, api.ClusterFlushRoute, worker(s, func(m Machines, ctx context.Context, _ api.NoQuery) (api.ClusterFlushed, error) { return m.Flush(ctx) })),
		bindWork(to, api.ClusterVerifyRoute, s.getVerify),
	}
}

func (s *clusters) getCluster(ctx context.Context, _ api.NoQuery) (api.Cluster, error) {
	if s.machines == nil {
		return api.Cluster{}, nil
	}
	return s.machines.Status(ctx)
}

// worker is one of the methods of machines as work.
func worker[Q, A any](s *clusters, do func(m Machines, ctx context.Context, q Q) (A, error)) func(context.Context, Q) (task[A], error) {
	return func(_ context.Context, q Q) (task[A], error) {
		if s.machines == nil {
			return nil, sharesNothing()
		}
		return func(ctx context.Context, _ func(done, total uint64)) (A, error) { return do(s.machines, ctx, q) }, nil
	}
}

func sharesNothing() error {
	return conflict("Nothing can be shared", "this daemon shares no memory with other machines")
}

func (s *clusters) getVerify(context.Context, api.NoQuery) (task[api.ClusterVerified], error) {
	if s.machines == nil {
		return nil, sharesNothing()
	}
	return s.machines.Verify, nil
}
