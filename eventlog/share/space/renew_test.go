package space_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/testkit/storetest"
)

// TestRenew: a machine enters as another one, which has all keys; the one that it was stays. What fails between is made good by a second call.
func TestRenew(t *testing.T) {
	t.Parallel()
	for lost := range 12 { // the answer of every call of the store is lost once
		synctest.Test(t, func(t *testing.T) { renewed(fleet{t, storetest.NewMemory()}, lost) })
	}
}

func renewed(f fleet, lost int) {
	dir, s := f.TempDir(), f.connect()
	laptop, _, err := space.Create(f.Context(), dir, s, "laptop", noon)
	if err != nil {
		f.Fatal(err)
	}
	desktop := f.entered(f.invited(laptop, noon), "desktop", noon)
	if err := laptop.Revoke(f.Context(), desktop.Self(), nil, noon); err != nil {
		f.Fatal(err)
	}
	was, failing := laptop.Self(), &failsOnce{Store: s, at: lost}
	laptop, err = space.Open(dir, failing)
	if err != nil {
		f.Fatal(err)
	}
	for range 3 {
		if err = laptop.Renew(f.Context(), noon); err == nil {
			break
		}
		if laptop, err = space.Open(dir, failing); err != nil { // as after a crash
			f.Fatal(err)
		}
	}
	if err != nil {
		f.Fatal(err)
	}
	again, err := space.Open(dir, s)
	if err != nil {
		f.Fatal(err)
	}
	f.refresh(again, nil)
	if diff := cmp.Diff([]string{"laptop", "laptop-2"}, names(again)); diff != "" || again.Self() == was {
		f.Errorf("with answer %d lost: %s it is %s, was %s", lost, diff, again.Self(), was)
	}
	if m, ok := again.Manifest().Machine(again.Self()); !ok || m.Name != "laptop-2" || f.key(again) != f.key(laptop) {
		f.Errorf("with answer %d lost: it is %+v", lost, m)
	}
	if err := again.Renew(f.Context(), noon); err != nil { // the copy of a copy
		f.Fatal(err)
	}
	f.refresh(again, nil)
	if diff := cmp.Diff([]string{"laptop", "laptop-2", "laptop-3"}, names(again)); diff != "" {
		f.Error(diff)
	}
}

// TestRenewRevoked: who was taken out does not come in as another.
func TestRenewRevoked(t *testing.T) {
	f := newFleet(t)
	laptop, _ := f.created()
	desktop := f.entered(f.invited(laptop, noon), "desktop", noon)
	if err := laptop.Revoke(t.Context(), desktop.Self(), nil, noon); err != nil {
		t.Fatal(err)
	}
	if err := desktop.Renew(t.Context(), noon); !errors.Is(err, space.ErrRevoked) {
		t.Errorf("got %v, want ErrRevoked", err)
	}
}

// failsOnce is a store that loses the answer of one call that writes.
type failsOnce struct {
	store.Store
	at, calls int
}

var errLost = errors.New("the answer was lost")

func (s *failsOnce) lost(rev store.Rev, err error) (store.Rev, error) {
	if s.calls++; s.calls == s.at {
		return "", errLost
	}
	return rev, err
}

func (s *failsOnce) Create(ctx context.Context, key store.Key, body []byte) (store.Rev, error) {
	return s.lost(s.Store.Create(ctx, key, body))
}

func (s *failsOnce) Replace(ctx context.Context, key store.Key, rev store.Rev, body []byte) (store.Rev, error) {
	return s.lost(s.Store.Replace(ctx, key, rev, body))
}
