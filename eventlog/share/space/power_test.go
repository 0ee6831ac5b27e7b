package space_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/storetest"
)

// TestRevokeAndPower: wherever the power goes while a machine is revoked, and the machine that did it is lost, the others go on: the store
// has the key of an epoch before the epoch begins.
func TestRevokeAndPower(t *testing.T) {
	t.Parallel()
	for left := range 13 {
		f := fleet{t, storetest.NewMemory()}
		laptop, _ := f.created()
		desktop := f.entered(f.invited(laptop, noon), "desktop", noon)
		stolen := f.entered(f.invited(laptop, noon), "stolen", noon)
		stop := &dying{Store: f.connect(), left: left}
		dir := t.TempDir()
		if _, err := space.Enter(t.Context(), dir, f.connect(), f.invited(laptop, noon), "lost", "", noon); err != nil {
			t.Fatalf("%d changes: %v", left, err)
		}
		lost, err := space.Open(dir, stop)
		if err != nil {
			t.Fatalf("%d changes: %v", left, err)
		}
		gone := lost.Revoke(t.Context(), stolen.Self(), nil, noon)
		f.refresh(desktop, nil)
		if err := desktop.Tend(t.Context(), noon); err != nil {
			t.Errorf("%d changes: %v", left, err)
		}
		if m, _ := desktop.Manifest().Machine(stolen.Self()); gone == nil && !m.Revoked {
			t.Error("it was revoked, and is in")
		}
		if newcomer := f.entered(f.invited(desktop, noon), "newcomer", noon); f.key(newcomer) != f.key(desktop) {
			t.Error("they have not one key")
		}
	}
}

// dying is a store that answers nothing any more after so many changes.
type dying struct {
	store.Store
	left int
}

func (d *dying) change() error {
	if d.left--; d.left < 0 {
		return storetest.ErrFault
	}
	return nil
}

func (d *dying) Create(ctx context.Context, key store.Key, body []byte) (store.Rev, error) {
	if err := d.change(); err != nil {
		return "", err
	}
	return d.Store.Create(ctx, key, body)
}

func (d *dying) Replace(ctx context.Context, key store.Key, rev store.Rev, body []byte) (store.Rev, error) {
	if err := d.change(); err != nil {
		return "", err
	}
	return d.Store.Replace(ctx, key, rev, body)
}

// TestEnterAndPower: wherever the power goes while a machine enters a space of several epochs, it gets in by the code that it has.
func TestEnterAndPower(t *testing.T) {
	t.Parallel()
	for left := range 9 {
		f := fleet{t, storetest.NewMemory()}
		laptop, _ := f.created()
		for range 2 {
			sold := f.entered(f.invited(laptop, noon), "sold", noon)
			if err := laptop.Revoke(t.Context(), sold.Self(), nil, noon); err != nil {
				t.Fatalf("%d changes: %v", left, err)
			}
		}
		code, dir := f.invited(laptop, noon), t.TempDir()
		stop := &dying{Store: f.connect(), left: left}
		if _, err := space.Enter(t.Context(), dir, stop, code, "desktop", "", noon); err == nil {
			continue
		}
		if err := os.Remove(filepath.Join(dir, "space")); err != nil && !errors.Is(err, os.ErrNotExist) { // it may not be on disk
			t.Fatalf("%d changes: %v", left, err)
		}
		if err := laptop.Tend(t.Context(), noon); err != nil { // which takes away what lies there for a code that was used
			t.Fatalf("%d changes: %v", left, err)
		}
		desktop, err := space.Enter(t.Context(), dir, f.connect(), code, "desktop", "", noon)
		if err != nil {
			t.Fatalf("%d changes: %v", left, err)
		}
		for epoch := uint32(1); epoch <= 3; epoch++ {
			if _, err := desktop.EpochKey(epoch); err != nil {
				t.Errorf("%d changes: %v", left, err)
			}
		}
	}
}

// TestKeysAreLaidAgain: of a store that was emptied in a later epoch newcomers, and who has the recovery code, read all that is sent again.
func TestKeysAreLaidAgain(t *testing.T) {
	f := newFleet(t)
	laptop, recovery := f.created()
	sold := f.entered(f.invited(laptop, noon), "sold", noon)
	if err := laptop.Revoke(t.Context(), sold.Self(), nil, noon); err != nil {
		t.Fatal(err)
	}
	f.engine.Restore(nil)
	f.refresh(laptop, store.ErrNotFound)
	if err := laptop.Tend(t.Context(), noon); err != nil {
		t.Fatal(err)
	}
	for _, code := range []space.Code{recovery, f.invited(laptop, noon)} {
		found := f.entered(code, "new", noon)
		for epoch := uint32(1); epoch <= 2; epoch++ {
			if _, err := found.EpochKey(epoch); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestFull: a space that has no room for another machine has room for machines to go.
func TestFull(t *testing.T) {
	f := newFleet(t)
	laptop, _ := f.created()
	desktop := f.entered(f.invited(laptop, noon), "desktop", noon)
	tower := f.entered(f.invited(laptop, noon), "tower", noon)
	read := make([]space.Feed, 5800) // fills most of it at once
	for i := range read {
		read[i] = space.Feed{Log: events.LogID{byte(i), byte(i >> 8)}, Last: 1}
	}
	if err := laptop.Revoke(t.Context(), f.entered(f.invited(laptop, noon), "filler", noon).Self(), read, noon); err != nil {
		t.Fatal(err)
	}
	invited, err := 0, error(nil)
	for ; err == nil && invited < 1000; invited++ {
		_, err = laptop.Invite(t.Context(), "ci", "", noon)
	}
	if !errors.Is(err, space.ErrFull) || invited < 10 {
		t.Errorf("after %d invitations: %v", invited, err)
	}
	if err := laptop.Revoke(t.Context(), desktop.Self(), []space.Feed{{Log: events.LogID{1}, Last: 7}}, noon); err != nil {
		t.Error(err)
	}
	if err := tower.Leave(t.Context(), noon); err != nil {
		t.Error(err)
	}
	f.refresh(laptop, nil)
	if diff := cmp.Diff([]string{"laptop"}, names(laptop)); diff != "" {
		t.Error(diff)
	}
}

// TestRevokeIsLost: two machines change the list at once by a store that does not decide, and the one that revoked is told what was lost.
func TestRevokeIsLost(t *testing.T) {
	f := newFleet(t)
	laptop, _ := f.created()
	desktop := f.entered(f.invited(laptop, noon), "desktop", noon)
	f.entered(f.invited(laptop, noon), "stolen", noon)
	f.refresh(laptop, nil)
	f.refresh(desktop, nil)
	then := f.engine.Snapshot()
	machines := laptop.Manifest().Machines()
	if err := laptop.Revoke(t.Context(), machines[2].ID, nil, noon); err != nil {
		t.Fatal(err)
	}
	f.engine.Restore(then)
	f.invited(desktop, noon)
	err := laptop.Refresh(t.Context())
	if !errors.Is(err, space.ErrDiverged) || !strings.Contains(err.Error(), "that stolen was revoked is lost") {
		t.Errorf("who revoked is told %v", err)
	}
}

// TestForgetWhileACallHangs: what a call learns that goes on after the machine left is not written.
func TestForgetWhileACallHangs(t *testing.T) {
	f := newFleet(t)
	laptop, _ := f.created()
	dir := t.TempDir()
	desktop, err := space.Enter(t.Context(), dir, f.connect(), f.invited(laptop, noon), "desktop", "", noon)
	if err != nil {
		t.Fatal(err)
	}
	if err := desktop.Leave(t.Context(), noon); err != nil {
		t.Fatal(err)
	}
	if err := desktop.Forget(); err != nil {
		t.Fatal(err)
	}
	f.invited(laptop, noon)
	f.refresh(desktop, space.ErrNone)
	if _, err := space.Open(dir, f.connect()); !errors.Is(err, space.ErrNone) {
		t.Errorf("it is in a space again: %v", err)
	}
}
