package boltcheck

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/testkit/seeded"
)

// FuzzPages checks the pages of a file whose meta page is right and whose other pages are anything: it ends,
// and what looks at more finds more.
func FuzzPages(f *testing.F) {
	const size = 128 // small pages, so that few bytes make a tree
	leaf := func(id uint64, root uint64) []byte {
		b := binary.NativeEndian.AppendUint64(nil, id)
		b = append(b, pageLeaf, 0, 1, 0, 0, 0, 0, 0)
		b = append(b, 1, 0, 0, 0, 16, 0, 0, 0, 3, 0, 0, 0, 16, 0, 0, 0, 'l', 'o', 'g')
		b = binary.NativeEndian.AppendUint64(b, root)
		return append(b, make([]byte, size-len(b))...)
	}
	branch := func(id uint64, children ...uint64) []byte {
		b := binary.NativeEndian.AppendUint64(nil, id)
		b = append(b, pageBranch, 0, byte(len(children)), 0, 0, 0, 0, 0)
		for _, c := range children {
			b = binary.NativeEndian.AppendUint64(append(b, 0, 0, 0, 0, 0, 0, 0, 0), c)
		}
		return append(b, make([]byte, size-len(b))...)
	}
	f.Add(bytes.Join([][]byte{leaf(2, 3), branch(3, 4, 5), leaf(4, 0), leaf(5, 0)}, nil), uint64(2), noFreeList)
	f.Add(bytes.Join([][]byte{leaf(2, 3), branch(3, 3)}, nil), uint64(2), noFreeList)
	f.Add(bytes.Join([][]byte{leaf(2, 3), branch(3, 4), branch(4, 3)}, nil), uint64(2), uint64(5))
	f.Fuzz(func(t *testing.T, pages []byte, root, free uint64) {
		m := binary.NativeEndian.AppendUint32(nil, metaMagic)
		m = append(m, 2, 0, 0, 0, size, 0, 0, 0, 0, 0, 0, 0)
		for _, v := range []uint64{root, 0, free, 2 + uint64(len(pages)/size), 7} {
			m = binary.NativeEndian.AppendUint64(m, v)
		}
		sum := fnv.New64a()
		sum.Write(m)
		m = binary.NativeEndian.AppendUint64(m, sum.Sum64())
		file := make([]byte, 2*size, 2*size+len(pages))
		copy(file[pageHeader:], m)
		file = append(file, pages...)
		for depth := range 3 {
			shallow := Check(bytes.NewReader(file), int64(len(file)), Config{PageSize: size, Depth: depth})
			deep := Check(bytes.NewReader(file), int64(len(file)), Config{PageSize: size, Depth: depth, Deep: true})
			if shallow != nil && deep == nil {
				t.Errorf("depth %d: a deep check finds nothing, another one %v", depth, shallow)
			}
		}
	})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	if err := Check(bytes.NewReader(nil), 0, Config{PageSize: 4096}); err == nil {
		t.Error("an empty file is whole")
	}
	path := filepath.Join(t.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket([]byte("a"))
		for i := range 2000 {
			err = errors.Join(err, b.Put(binary.BigEndian.AppendUint64(nil, uint64(i)), make([]byte, 100)))
		}
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []Config{{Depth: 1, Whole: true}, {Depth: 1, Deep: true}, {Depth: 2, Deep: true}} {
		if err := Check(bytes.NewReader(whole), int64(len(whole)), cfg); err != nil {
			t.Errorf("%+v: %v", cfg, err)
		}
		if err := Check(bytes.NewReader(whole), int64(len(whole)/2), cfg); err == nil {
			t.Errorf("%+v: half a file is whole", cfg)
		}
	}
}

// unreadable is a file of which all readings fail after some.
type unreadable struct {
	io.ReaderAt
	left int // until then
	err  error
}

func (u *unreadable) ReadAt(b []byte, at int64) (int, error) {
	if u.left--; u.left < 0 {
		return 0, u.err
	}
	return u.ReaderAt.ReadAt(b, at)
}

// badSector is a file of which one place cannot be read.
type badSector struct {
	io.ReaderAt
	at  int64
	err error
}

func (s badSector) ReadAt(b []byte, at int64) (int, error) {
	if at == s.at {
		return 0, s.err
	}
	return s.ReaderAt.ReadAt(b, at)
}

// TestUnreadableMeta: one meta page that can be read is enough.
func TestUnreadableMeta(t *testing.T) {
	t.Parallel()
	whole := smallFile(t)
	for i := range 2 {
		file := badSector{bytes.NewReader(whole), int64(i * os.Getpagesize()), errors.New("bad sector")}
		if err := Check(file, int64(len(whole)), Config{Depth: 1, Deep: true}); err != nil {
			t.Errorf("meta page %d cannot be read: %v", i, err)
		}
	}
}

// smallFile is a file of one bucket.
func smallFile(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte("a"))
		return err
	})
	whole, readErr := os.ReadFile(path)
	if err := errors.Join(err, db.Close(), readErr); err != nil {
		t.Fatal(err)
	}
	return whole
}

// TestUnreadable: whichever page cannot be read, the reason is told.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	whole := smallFile(t)
	bad := errors.New("bad sector")
	reads := 0
	for ; ; reads++ {
		file := &unreadable{bytes.NewReader(whole), reads, bad}
		err := Check(file, int64(len(whole)), Config{Depth: 1, Deep: true})
		if file.left >= 0 {
			break
		}
		if !errors.Is(err, bad) {
			t.Errorf("after %d reads: got %v", reads, err)
		}
	}
	if reads < 4 {
		t.Errorf("a check reads %d times, want both meta pages and two others at least", reads)
	}
}

// TestStrict: whatever is put into a file and deleted again, it is laid out as a strict check wants it.
func TestStrict(t *testing.T) {
	t.Parallel()
	rng := seeded.New(t)
	path := filepath.Join(t.TempDir(), "f")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		t.Fatal(err)
	}
	strict := Config{Whole: true, Depth: 1, Deep: true, Strict: true}
	for range 60 {
		err := db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte{byte('a' + rng.IntN(3))})
			if err != nil {
				return err
			}
			for range rng.IntN(400) {
				key := []byte(strconv.Itoa(rng.IntN(3000)))
				if rng.IntN(5) < 2 {
					err = b.Delete(key)
				} else {
					err = b.Put(key, bytes.Repeat(key, rng.IntN(40)))
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(bytes.NewReader(whole), int64(len(whole)), strict); err != nil {
			t.Fatalf("a whole file: %v", err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestValue: a check hands out each value with the names of its buckets, and fails with what is said of one.
func TestValue(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		outer, err := tx.CreateBucket([]byte("outer"))
		if err != nil {
			return err
		}
		inner, err := outer.CreateBucket([]byte("inner"))
		if err != nil {
			return err
		}
		return errors.Join(inner.Put([]byte("k"), []byte("v")), outer.Put([]byte("z"), []byte("w")))
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	bad := errors.New("bad")
	for _, want := range []error{nil, bad} {
		err := Check(bytes.NewReader(b), int64(len(b)), Config{Whole: true, Depth: 2, Deep: true, Value: func(buckets []string, key, value []byte) error {
			got = append(got, strings.Join(buckets, "/")+" "+string(key)+"="+string(value))
			return want
		}})
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	if want := []string{"outer/inner k=v", "outer z=w", "outer/inner k=v"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
