package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
)

// Rebuild makes the named views, or all of them, anew from the log, one after the other, into other buckets; each
// answers from its old content until its new one has caught up with it. All views have what the log held when it was called
// then. Run may be running, and the views go on following the log; what Run waits to try again it tries at once. progress, which may be nil, is called with how many records have been applied of how many. One Rebuild
// runs at a time; another waits. Errors: ErrUnknownView, ctx.Err(), those of Run, or that the file was damaged and made
// anew meanwhile; what was begun is then thrown away.
func (v *Views) Rebuild(ctx context.Context, names []string, progress func(done, total uint64)) error {
	chosen, err := v.choose(names)
	if err != nil {
		return err
	}
	select {
	case v.rebuilds <- struct{}{}:
		defer func() { <-v.rebuilds }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if progress == nil {
		progress = func(uint64, uint64) {}
	}
	if err := v.mendNow(); err != nil {
		return fmt.Errorf("projections: rebuild: %w", err)
	}
	last, err := v.log.Last(ctx)
	if err != nil {
		return fmt.Errorf("projections: rebuild: %w", err)
	}
	each := uint64(last)
	for n, view := range chosen {
		applied := func(at events.Position) { progress(uint64(n)*each+min(uint64(at), each), uint64(len(chosen))*each) }
		if err := v.rebuildOne(ctx, view, applied); err != nil {
			return fmt.Errorf("projections: rebuild %s: %w", view.Name(), err)
		}
	}
	if v.Position() < last {
		return v.CatchUp(ctx)
	}
	return nil
}

// mendNow ends what Run waits for, and makes a damaged file anew that Run has made anew too often of late.
func (v *Views) mendNow() error {
	defer v.progress.Hasten()
	t := v.Trouble()
	if t == nil || !errors.Is(t.Err, ErrDamaged) {
		return nil
	}
	epoch, _ := v.head()
	return v.repair(epoch, t.Err)
}

// Names returns the names of the views, in the order in which List has them.
func (v *Views) Names() []string {
	var names []string
	for _, view := range v.views {
		names = append(names, view.Name())
	}
	return names
}

func (v *Views) choose(names []string) ([]View, error) {
	if len(names) == 0 {
		return v.views, nil
	}
	var chosen []View
	for _, name := range names {
		view, err := v.named(name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, view)
	}
	return chosen, nil
}

func (v *Views) named(name string) (View, error) {
	for _, view := range v.views {
		if view.Name() == name {
			return view, nil
		}
	}
	return nil, fmt.Errorf("%w: %q; there are %s", ErrUnknownView, name, strings.Join(v.Names(), ", "))
}

func (v *Views) rebuildOne(ctx context.Context, view View, applied func(events.Position)) error {
	fresh, err := v.beginRebuild(view)
	if err != nil {
		return err
	}
	err = v.advance(ctx, fresh, applied, func() error { return v.swap(fresh) })
	if err != nil {
		return errors.Join(err, v.throwAway(fresh))
	}
	return nil
}

// beginRebuild makes an empty copy of a view beside the live one.
func (v *Views) beginRebuild(view View) (*instance, error) {
	v.applying.Lock()
	defer v.applying.Unlock()
	fresh := &instance{view: view, bucket: view.Name(), epoch: v.epoch}
	if v.liveOf(view).bucket == fresh.bucket {
		fresh.bucket += secondCopy
	}
	return fresh, v.write(func(btx *bolt.Tx) error { return v.emptyBucket(btx, fresh) })
}

// liveOf is the live copy of view. The caller holds applying.
func (v *Views) liveOf(view View) *instance {
	for _, i := range v.live {
		if i.view.Name() == view.Name() {
			return i
		}
	}
	return &instance{view: view}
}

// swap makes fresh the live copy and deletes the old one. The caller holds applying, and fresh is at the front.
func (v *Views) swap(fresh *instance) error {
	old := v.liveOf(fresh.view)
	err := v.write(func(btx *bolt.Tx) error {
		if err := v.writePoint(btx, fresh, new(arena)); err != nil {
			return err
		}
		return btx.DeleteBucket([]byte(old.bucket))
	})
	if err != nil {
		return err
	}
	*old = *fresh
	v.publish()
	return nil
}

func (v *Views) throwAway(fresh *instance) error {
	v.applying.Lock()
	defer v.applying.Unlock()
	if fresh.epoch != v.epoch || v.liveOf(fresh.view).bucket == fresh.bucket {
		return nil
	}
	err := v.write(func(btx *bolt.Tx) error {
		if btx.Bucket([]byte(fresh.bucket)) == nil {
			return nil
		}
		return btx.DeleteBucket([]byte(fresh.bucket))
	})
	if errors.Is(err, ErrClosed) {
		return nil // the next Open sweeps it
	}
	return err
}
