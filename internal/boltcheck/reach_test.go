package boltcheck

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// built is a file with a bucket of many values, one of a few, and the pairs in both.
func built(tb testing.TB) (file []byte, pairs map[string]string) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		tb.Fatal(err)
	}
	pairs = map[string]string{}
	if err := db.Update(func(tx *bbolt.Tx) error {
		for name, n := range map[string]int{"many": 100, "few": 3} {
			b, err := tx.CreateBucket([]byte(name))
			if err != nil {
				return err
			}
			for i := range n {
				key, value := fmt.Sprintf("%05d", i), fmt.Sprint(name, i, string(make([]byte, i%7*900)))
				pairs[name+key] = value
				if err := b.Put([]byte(key), []byte(value)); err != nil {
					return err
				}
			}
			if err := b.SetSequence(77); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
	if err := db.Close(); err != nil {
		tb.Fatal(err)
	}
	if file, err = os.ReadFile(path); err != nil {
		tb.Fatal(err)
	}
	return file, pairs
}

// reached is what is found in a file; each element must lie where it says.
func reached(tb testing.TB, file []byte) (map[string]string, Reached) {
	tb.Helper()
	found := map[string]string{}
	r := Reach(bytes.NewReader(file), int64(len(file)), func(e Element) {
		found[e.Bucket+string(e.Key)] = string(e.Value)
		if at := file[e.Offset:]; !bytes.HasPrefix(at, e.Key) || !bytes.HasPrefix(at[len(e.Key):], e.Value) {
			tb.Errorf("%s %q does not lie at %d", e.Bucket, e.Key, e.Offset)
		}
	})
	return found, r
}

func TestReach(t *testing.T) {
	t.Parallel()
	file, pairs := built(t)
	found, r := reached(t, file)
	if !maps.Equal(found, pairs) || r.Metas != 2 || r.MissingPages != 0 || r.Sequences["many"] != 77 || r.Sequences["few"] != 77 {
		t.Errorf("found %d of %d, %+v", len(found), len(pairs), r)
	}
}

// TestReachPastDamage: one page is lost after the other, or leads back to another one. What lies beside it is reached.
func TestReachPastDamage(t *testing.T) {
	t.Parallel()
	file, pairs := built(t)
	size := os.Getpagesize()
	for name, spoil := range map[string]func(id int, page []byte){
		"zeroed": func(_ int, page []byte) { clear(page) },
		"in circles": func(id int, page []byte) {
			page[8] = pageBranch
			binary.NativeEndian.PutUint64(page[pageHeader+8:], uint64(id))
		},
		"huge": func(_ int, page []byte) { page[10], page[11], page[12], page[13] = 0xff, 0xff, 0xff, 0xff },
	} {
		same, all := 0, 0
		for id := 2; id < len(file)/size; id++ {
			damaged := bytes.Clone(file)
			spoil(id, damaged[id*size:][:size])
			found, _ := reached(t, damaged)
			for key, value := range pairs {
				if all++; found[key] == value {
					same++
				}
			}
		}
		if same < all*8/10 {
			t.Errorf("%s: %d of %d reached", name, same, all)
		}
	}
}

// FuzzReach: whatever pages say, reaching ends, and visits what is in the file.
func FuzzReach(f *testing.F) {
	file, _ := built(f)
	f.Add(file[:64<<10])
	f.Fuzz(func(t *testing.T, b []byte) { reached(t, b) })
}
