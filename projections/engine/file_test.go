package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

// TestExchangeNotOpened: what the system refuses says nothing about the file; what is no database does.
func TestExchangeNotOpened(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		put     func(path string) error
		damaged bool
	}{
		"refused": {func(path string) error { return os.Symlink("f", path) }, false}, // to itself, once it is exchanged
		"text":    {func(path string) error { return os.WriteFile(path, []byte("no database"), 0o600) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && !tc.damaged {
				t.Skip("links need a right of their own")
			}
			dir := t.TempDir()
			f, err := OpenFile(filepath.Join(dir, "f"), true)
			if err != nil {
				t.Fatal(err)
			}
			by := &File{path: filepath.Join(dir, "by")}
			if err := tc.put(by.path); err != nil {
				t.Fatal(err)
			}
			if err := f.Exchange(by); !errors.Is(err, ErrNotOpen) || errors.Is(err, ErrDamaged) != tc.damaged {
				t.Errorf("got %v, want it damaged: %t", err, tc.damaged)
			}
			if err := f.Close(); err != nil {
				t.Errorf("closing: %v", err)
			}
		})
	}
}

// TestCutToNothing: a file that is emptied while it is open is damaged for everybody who asks, at once and not after for ever.
func TestCutToNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "views.db")
	f, err := OpenFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	put := func(tx *bolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists([]byte("a"))
		return err
	}
	if err := errors.Join(f.Update(put), os.Truncate(path, 0)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		view := f.View(func(*bolt.Tx) error { return nil })
		update := f.Update(put)
		_, copied := f.Copy()
		for _, err := range []error{view, update, copied} {
			if !errors.Is(err, ErrDamaged) {
				view = fmt.Errorf("got %v, want ErrDamaged", err)
			}
		}
		ended <- errors.Join(view, f.Close())
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, ErrDamaged) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for ever")
	}
	if f, err = OpenFile(path, false); err != nil { // an empty file is a new one
		t.Fatal(err)
	}
	if err := errors.Join(f.Update(put), f.Close()); err != nil {
		t.Error(err)
	}
}
