package scenarios

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/programs"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/sharing"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

// fleet is the temporary world of several machines: three stores, and homes that share their memory through them.
type fleet struct {
	*stage         // of the first machine: it tells what happens
	dir            string
	stores         *stores
	machines       []*stage
	leaderKilledAt time.Time // when the leader was
}

// machineNames are what the machines of the demo are called, in the order in which they join.
func machineNames() []string { return []string{"laptop", "desktop", "server"} }

// fleetWait is how long machines and stores may take for what waits for an election (4 to 9 s), for what was put off meanwhile, and for a
// store that was killed: the hub starts it again after 10 s, and on a busy machine it was not ready for 17 s more.
const fleetWait = time.Minute

// playCluster plays three machines that share their memory through three stores, of which one is killed, and so is a machine. What it shows
// is checked: it fails where something is missing or there twice.
func playCluster(ctx context.Context, a *terminal.App, keep bool) (err error) {
	program, err := programs.FindHub()
	if err != nil {
		return err
	}
	f, err := newFleet(a)
	if err != nil {
		return err
	}
	defer func() {
		stays := keep && ctx.Err() == nil
		if stays && err != nil {
			err = fmt.Errorf("%w; its files stay in %s", err, f.dir)
		}
		err = errors.Join(err, f.clear(stays))
	}()
	f.announce("three stores begin on loopback")
	if f.stores, err = openStores(ctx, program, filepath.Join(f.dir, "hub"), a.Err); err != nil {
		return err
	}
	for _, act := range []func(context.Context) error{f.join, f.playFirst, f.playOthers, f.awaitShared, f.agree, f.show, f.recover, f.verifyAll} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	if !keep {
		f.announce("all of it happened in %s, which is removed now; to use it for real: cmemd hub", f.dir)
		return nil
	}
	return f.stopAndKeep(ctx)
}

// newFleet makes a folder, and in it one for each machine.
func newFleet(a *terminal.App) (*fleet, error) {
	self, dir, err := selfAndFolder()
	if err != nil {
		return nil, err
	}
	f := &fleet{dir: dir}
	for i, name := range machineNames() {
		m := newStageIn(a, self, filepath.Join(dir, "work", name), filepath.Join(dir, name)) // a short path: a socket's has 100 bytes
		m.name, m.steady, m.session = name, true, fmt.Sprintf("%s%d", defaultSession[:len(defaultSession)-1], i+1)
		f.machines = append(f.machines, m)
		if err := os.MkdirAll(m.project, 0o700); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	f.stage = f.machines[0]
	return f, nil
}

// clear ends all processes, and removes all files unless they are to be kept.
func (f *fleet) clear(keep bool) error {
	for _, m := range f.machines {
		m.client.Close()
		m.kill()
	}
	if f.stores != nil {
		f.stores.clear()
	}
	if keep {
		return nil
	}
	return os.RemoveAll(f.dir)
}

// join makes a space, has each machine enter it, and starts the daemons. Joining is a person's, so that no daemon is asked for it: what it
// writes into a home is written here, before there is one.
func (f *fleet) join(ctx context.Context) error {
	f.announce("the stores are ready: %s and the next two ports; each keeps every object", f.stores.base)
	var made api.ClusterJoined
	for i, m := range f.machines {
		q := api.ClusterJoin{Where: f.stores.address, Name: m.name}
		switch i {
		case 0:
		case 1:
			q = api.ClusterJoin{Code: made.Invitation.Code, Name: m.name}
		default:
			q.Code = made.Recovery // an invitation lets one machine in
		}
		joined, err := sharing.JoinOffline(ctx, homedir.PathsOf(m.home).Machines, q, m.a.Now())
		if err != nil {
			return err
		}
		if i == 0 {
			if made = joined; made.Invitation == nil {
				return errors.New("no code was made for the next machine")
			}
		}
		m.commit(ctx, "queue: give up a delivery that the receiver refuses")
		m.commit(ctx, "config: limit the attempts of a delivery")
		f.announce("%s joins: %s", m.name, number.Plural(joined.Machines, "machine"))
		if err := m.raise(ctx); err != nil {
			return err
		}
	}
	return nil
}

// playFirst plays a session on the first machine while all is well.
func (f *fleet) playFirst(ctx context.Context) error {
	if err := f.playOn(ctx, f.machines[0]); err != nil {
		return err
	}
	return f.flush(ctx, f.machines[0])
}

// playOthers kills the leader of the stores, and plays the other sessions while there is none. In the last one the machine's daemon is
// killed too, and started again.
func (f *fleet) playOthers(ctx context.Context) error {
	known := func() bool { _, ok := f.stores.leader(); return ok }
	if err := f.until(ctx, fleetWait, "a store to lead", known); err != nil {
		return err
	}
	gone, err := f.stores.killLeader()
	if err != nil {
		return err
	}
	f.leaderKilledAt = f.a.Now()
	f.announce("store %d, process %d, which leads, is killed with SIGKILL", gone.Store, gone.PID)
	last := len(f.machines) - 1
	f.machines[last].steady = false
	for _, m := range f.machines[1:] {
		if err := f.playOn(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// playOn plays a session, and tells how long its hooks took.
func (f *fleet) playOn(ctx context.Context, m *stage) error {
	f.announce("a session begins on %s", m.name)
	if err := m.play(ctx); err != nil {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	slices.Sort(m.hooks)
	f.printDetail("%d hooks, each a process: %d ms in the middle, %d ms at most", len(m.hooks),
		m.hooks[len(m.hooks)/2].Milliseconds(), m.hooks[len(m.hooks)-1].Milliseconds())
	return nil
}

// awaitShared waits until what was recorded without a leader is in the stores, and until every machine has observed its session.
func (f *fleet) awaitShared(ctx context.Context) error {
	for _, m := range f.machines[1:] {
		if err := f.flush(ctx, m); err != nil {
			return err
		}
	}
	for _, m := range f.machines {
		if err := m.settle(ctx); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// flush waits until all that a machine has recorded is in the stores.
func (f *fleet) flush(ctx context.Context, m *stage) error {
	limited, cancel := context.WithTimeout(ctx, fleetWait)
	defer cancel()
	done, err := api.ClusterFlushRoute.Call(limited, m.client, api.NoQuery{}, nil)
	if err != nil {
		return fmt.Errorf("flush what %s recorded: %w", m.name, err)
	}
	since := ""
	if !f.leaderKilledAt.IsZero() {
		since = fmt.Sprintf(", %.1f s after their leader was killed", f.a.Now().Sub(f.leaderKilledAt).Seconds())
	}
	f.announce("%d records of %s are in the stores%s", done.Position, m.name, since)
	return nil
}

// recover waits until the store that was killed is there again.
func (f *fleet) recover(ctx context.Context) error {
	if err := f.until(ctx, fleetWait, "the store that was killed to come back", func() bool { return f.stores.back() != 0 }); err != nil {
		return err
	}
	f.announce("store %d is back, and fetches what it missed from the other two", f.stores.back())
	return nil
}

// verifyAll has one machine read again what the stores hold.
func (f *fleet) verifyAll(ctx context.Context) error {
	v, err := api.ClusterVerifyRoute.Call(ctx, f.client, api.NoQuery{}, func(api.Progress) {})
	if err != nil {
		return err
	}
	f.announce("cmemd log verify --fleet")
	for _, log := range v.Logs {
		if log.Problem != "" {
			v.Problems = append(v.Problems, log.Machine+": "+log.Problem)
		}
		f.printDetail("%s: %s in %s, signed and linked", log.Machine, number.Plural(log.Checked, "record"), number.Plural(log.Segments, "segment"))
	}
	if !v.OK {
		return fmt.Errorf("what the stores hold is not well: %s", strings.Join(v.Problems, "; "))
	}
	return nil
}

// stopAndKeep ends the daemons in order, and says how to go on with what stays. The homes use no port: that is for the person's own.
func (f *fleet) stopAndKeep(ctx context.Context) error {
	for _, m := range f.machines {
		_ = m.client.Stop(ctx) // else it is killed
		if err := os.WriteFile(filepath.Join(m.home, config.FileName), []byte("listen = \"\"\n"), 0o600); err != nil {
			return err
		}
	}
	f.announce("all processes end now, and %s stays until you remove it; to go on with it:", f.dir)
	f.printDetail("cmemd hub --dev 3 --dir %s --listen %s", filepath.Join(f.dir, "hub"), f.stores.base)
	for _, m := range f.machines {
		f.printDetail("cmemd --home %s start", m.home)
	}
	return nil
}
