package engine

import (
	"errors"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/follow"
)

// TestCompare sets views beside others of the same log, of which a value was changed, removed or added.
func TestCompare(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plant func(b *bolt.Bucket) error
		want  []Difference
	}{
		"alike":   {func(*bolt.Bucket) error { return nil }, nil},
		"changed": {func(b *bolt.Bucket) error { return plant(b, 2) }, []Difference{{View: "others", Table: "records", Key: "2", Problem: "is another value than the log leads to"}}},
		"removed": {func(b *bolt.Bucket) error { return b.Delete(PositionKey(2)) }, []Difference{{View: "others", Table: "records", Key: "2", Problem: "is missing"}}},
		"added": {func(b *bolt.Bucket) error { return plant(b, 9) },
			[]Difference{{View: "others", Table: "records", Key: "9", Problem: "is not what the log leads to: there is no such value"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.open()
			w.tool()
			w.tool()
			v, anew := mustOpen(t, t.TempDir(), w.log, Config{}), mustOpen(t, t.TempDir(), w.log, Config{})
			follow.MustCatchUp(t, v)
			if _, _, err := v.Compare(t.Context(), anew, 9); !errors.Is(err, ErrPositionsDiffer) {
				t.Errorf("at other positions: got %v, want ErrApart", err)
			}
			follow.MustCatchUp(t, anew)
			if err := v.write(func(tx *bolt.Tx) error { return c.plant(tx.Bucket([]byte("others")).Bucket([]byte("records"))) }); err != nil {
				t.Fatal(err)
			}
			got, all, err := v.Compare(t.Context(), anew, 9)
			if err != nil || all != len(c.want) {
				t.Errorf("%d differences, %v", all, err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

// plant puts a value that is whole where the log leads to another one, or to none.
func plant(b *bolt.Bucket, at events.Position) error {
	key := PositionKey(at)
	return b.Put(key, sumSeedOf("others", "records").appendSum(key, []byte("x")))
}

// TestCheckpoints reads how far views are out of a file that nobody has open.
func TestCheckpoints(t *testing.T) {
	t.Parallel()
	w, dir := newWorld(t), t.TempDir()
	w.open()
	if at, err := Checkpoints(dir); len(at) != 0 || err != nil {
		t.Errorf("of no file: %v, %v", at, err)
	}
	v := mustOpen(t, dir, w.log, Config{})
	follow.MustCatchUp(t, v)
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if at, err := Checkpoints(dir); err != nil || at["sessions"] != 1 || at["others"] != 1 {
		t.Errorf("got %v, %v", at, err)
	}
}
