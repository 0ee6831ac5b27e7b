package engine

import (
	"errors"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/testkit/follow"
)

// TestTxFails: a transaction keeps its first error, and after it reads nothing and stores nothing.
func TestTxFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open()
	v := mustOpen(t, t.TempDir(), w.log, Config{})
	follow.MustCatchUp(t, v)
	own := errors.New("own")
	var before, after int
	err := v.View(t.Context(), "sessions", func(x *Tx) {
		for range recordTable().From(x, nil, nil) {
			before++
		}
		x.Fail(own)
		x.Fail(errors.New("a later one"))
		for range recordTable().From(x, nil, nil) {
			after++
		}
		if _, ok := recordTable().Get(x, PositionKey(1)); ok {
			after++
		}
		recordTable().Put(x, PositionKey(1), "nothing may be stored in a read transaction, and it is not tried")
	})
	if !errors.Is(err, own) || before != 1 || after != 0 {
		t.Errorf("got %v, %d values before and %d after it", err, before, after)
	}
	missing := Table[string]{Name: "no such table"}
	if err := v.View(t.Context(), "sessions", func(x *Tx) { missing.Get(x, nil) }); !errors.Is(err, ErrDamaged) {
		t.Errorf("without its table: got %v", err)
	}
	if err := v.View(t.Context(), "no such view", func(x *Tx) { recordTable().Delete(x, nil) }); !errors.Is(err, ErrDamaged) {
		t.Errorf("without its view: got %v", err)
	}
	stored := func(value []byte) error {
		return v.write(func(btx *bolt.Tx) error {
			return btx.Bucket([]byte("sessions")).Bucket([]byte("records")).Put(PositionKey(1), value)
		})
	}
	if err := stored([]byte{0xff}); err != nil {
		t.Fatal(err)
	}
	count := 0
	err = v.View(t.Context(), "sessions", func(x *Tx) {
		for range recordTable().Before(x, nil, nil) {
			count++
		}
	})
	if !errors.Is(err, ErrDamaged) || count != 0 {
		t.Errorf("a value that cannot be read: got %v, %d values", err, count)
	}
}
