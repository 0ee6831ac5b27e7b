package sharing

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/internal/api"
)

// Invite makes a code that lets one machine in. Errors are refusals in words.
func (s *Sharing) Invite(ctx context.Context, q api.ClusterInvite) (out api.ClusterInvitation, err error) {
	err = s.inTime(ctx, "Nobody was invited", func(ctx context.Context, j *joined) error {
		if err := j.share.Refresh(ctx); err != nil { // a store that was emptied has a list of machines again
			return err
		}
		out, err = invite(ctx, j.space, j.address, q.For, s.cfg.Now())
		return err
	})
	return out, err
}

// inTime does one thing with the store, within joinWait.
func (s *Sharing) inTime(ctx context.Context, title string, do func(ctx context.Context, j *joined) error) error {
	limited, cancel := context.WithTimeout(ctx, joinWait)
	defer cancel()
	j, err := s.now()
	if err == nil {
		err = do(limited, j)
	}
	return asRefusal(ctx, title, err)
}

// Revoke takes another machine out of the space. Errors are refusals in words.
func (s *Sharing) Revoke(ctx context.Context, q api.ClusterRevoke) (out api.ClusterRevoked, err error) {
	err = s.inTime(ctx, "No machine was taken out", func(ctx context.Context, j *joined) error {
		if err := j.share.Refresh(ctx); err != nil { // a machine that has just entered can be named
			return err
		}
		m, err := other(j.space, q.Name)
		if err != nil {
			return err
		}
		out = api.ClusterRevoked{Name: m.Name, ID: m.ID.String()}
		return j.share.Revoke(ctx, m.ID)
	})
	return out, err
}

// idLetters is how much of an id names a machine.
const idLetters = 6

// other is the one other machine that is called so, by its name, or by its id or the beginning of it.
func other(sp *space.Space, name string) (found space.Machine, err error) {
	n := 0
	for _, m := range sp.Manifest().Machines() {
		id := m.ID.String()
		if !m.Current() || m.ID == sp.Self() || m.Name != name && (len(name) < idLetters || !strings.HasPrefix(id, name)) {
			continue
		}
		found, n = m, n+1
	}
	switch n {
	case 0:
		return found, ErrNoDevice
	case 1:
		return found, nil
	}
	return found, ErrAmbiguous
}

// Leave takes this machine out of its space: what carries logs ends, and what is known of the space goes. Its own key stays, so that it
// can enter again as the same machine, unless it was revoked. Errors are refusals in words.
func (s *Sharing) Leave(ctx context.Context, q api.ClusterLeave) (out api.ClusterLeft, err error) {
	if err := s.turn.Acquire(ctx, 1); err != nil {
		return out, err
	}
	defer s.turn.Release(1)
	if !hasJoined(s.cfg.Dir) {
		return out, asRefusal(ctx, "Nothing was left", ErrNotJoined)
	}
	revoked := false
	err = s.inTime(ctx, "It was not left", func(ctx context.Context, j *joined) error {
		err := j.space.Refresh(ctx)
		if revoked = errors.Is(err, space.ErrRevoked); err == nil {
			err = j.share.Leave(ctx)
		}
		if revoked {
			err = nil
		}
		return err
	})
	if err != nil && !q.Force {
		return out, err
	}
	out.Notified = err == nil && !revoked
	for _, c := range s.cfg.Copies.Copies() {
		out.Removed, out.Bytes = out.Removed+1, out.Bytes+c.Bytes
	}
	forget := func() error { return space.Forget(s.cfg.Dir) }
	if j, err := s.now(); err == nil {
		forget = j.space.Forget // so that a call that goes on hanging does not bring it back
	}
	s.Stop()
	err = forget() // first: without it the home is in no space, whatever else is there
	s.mu.Lock()
	s.why = nil
	s.mu.Unlock()
	if revoked {
		err = errors.Join(err, os.Remove(filepath.Join(s.cfg.Dir, "device.key")))
	}
	return out, asRefusal(ctx, "Not all of it is gone", errors.Join(err, removeState(s.cfg.Dir)))
}
