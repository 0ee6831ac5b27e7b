package sharing

import (
	"cmp"
	"context"
	"os"
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

// joinWait is how long a store may take to be joined: a dozen objects, of which each may wait for an election.
const joinWait = 2 * time.Minute

// maxName is how much of a host's name a machine is called by, in bytes.
const maxName = 60

// Join makes a space or enters one, and runs what carries logs. Errors are refusals in words.
func (s *Sharing) Join(ctx context.Context, q api.ClusterJoin) (out api.ClusterJoined, err error) {
	if err := s.turn.Acquire(ctx, 1); err != nil {
		return out, err
	}
	defer s.turn.Release(1)
	limited, cancel := context.WithTimeout(ctx, joinWait)
	defer cancel()
	out, err = s.join(limited, q)
	return out, asRefusal(ctx, "It was not joined", err)
}

func (s *Sharing) join(ctx context.Context, q api.ClusterJoin) (api.ClusterJoined, error) {
	out, a, err := joinSpace(ctx, s.cfg.Dir, q, s.cfg.Now())
	if err != nil {
		return out, err
	}
	err = s.start(a)
	s.setStartError(err)
	if err != nil && q.Code == "" { // a recovery code must be shown, whatever becomes of the rest
		out.Problem, err = terminal.Describe(err), nil
	}
	return out, err
}

// JoinOffline does what Join does, for a home whose daemon does not run: Start finds it joined. Dir is Config's. Errors are in words.
func JoinOffline(ctx context.Context, dir string, q api.ClusterJoin, now time.Time) (api.ClusterJoined, error) {
	limited, cancel := context.WithTimeout(ctx, joinWait)
	defer cancel()
	out, _, err := joinSpace(limited, dir, q, now)
	return out, asRefusal(ctx, "It was not joined", err)
}

// joinSpace makes a space or enters one, and keeps in dir what says so.
func joinSpace(ctx context.Context, dir string, q api.ClusterJoin, now time.Time) (out api.ClusterJoined, a address, err error) {
	if hasJoined(dir) {
		return out, "", space.ErrMember
	}
	code, a, err := toJoin(q)
	if err != nil {
		return out, "", err
	}
	name := strings.TrimSpace(q.Name)
	out.Where = a.shown()
	st := &lazyStore{open: a.open}
	defer st.Close()
	if code == nil && !q.New {
		if there, err := st.List(ctx, "", "", 1); err != nil || len(there) > 0 {
			return out, "", cmp.Or(err, ErrTaken)
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return out, "", err
	}
	if err := a.write(dir); err != nil {
		return out, "", err
	}
	var sp *space.Space
	var recovery space.Code
	if code == nil {
		if sp, recovery, err = space.Create(ctx, dir, st, cmp.Or(name, hostName()), now); err == nil {
			out.Recovery = recovery.String()
		}
	} else {
		sp, err = space.Enter(ctx, dir, st, *code, name, hostName(), now)
	}
	if err != nil {
		return out, "", err
	}
	self, _ := sp.Manifest().Machine(sp.Self())
	out.Name, out.Machines = self.Name, current(sp)
	if code == nil { // the recovery code must be shown whatever becomes of the invitation
		if i, err := invite(ctx, sp, a, "", now); err == nil {
			out.Invitation = &i
		}
	}
	return out, a, nil
}

// toJoin is the code, if there is one, and where the store is.
func toJoin(q api.ClusterJoin) (code *space.Code, a address, err error) {
	where := q.Where
	if q.Code != "" {
		c, err := space.ParseCode(q.Code)
		if err != nil {
			return nil, "", err
		}
		if where = cmp.Or(where, c.Address); where == "" {
			return nil, "", ErrNoCode
		}
		code = &c
	}
	a, err = parseAddress(where)
	return code, a, err
}

// hostName is what a machine is called by itself, without its domain.
func hostName() string {
	name, _ := os.Hostname() // none is as good as an error
	name, _, _ = strings.Cut(name, ".")
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, name)
	return cmp.Or(name[:min(len(name), maxName)], "machine")
}

// current is how many machines are in a space.
func current(sp *space.Space) int {
	return number.Count(sp.Manifest().Machines(), space.Machine.Current)
}

// invite makes a code that leads to the store at a.
func invite(ctx context.Context, sp *space.Space, a address, name string, now time.Time) (out api.ClusterInvitation, err error) {
	code, err := sp.Invite(ctx, name, string(a), now)
	if err != nil {
		return out, err
	}
	return api.ClusterInvitation{Code: code.String(), Expires: now.Add(space.InvitationLife).UTC().Truncate(time.Second), Where: a.shown()}, nil
}
