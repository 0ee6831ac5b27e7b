package engine

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cmemd/cmemd/testkit/follow"
)

// FuzzVerify asks of the check of pages that it ends, whatever is in the file.
func FuzzVerify(f *testing.F) {
	w := newWorld(f)
	w.open()
	for range 200 {
		w.tool()
	}
	dir := f.TempDir()
	v := mustOpen(f, dir, w.log, Config{})
	follow.MustCatchUp(f, v)
	if err := v.Close(); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(3*os.Getpagesize(), []byte{1}, true)
	f.Add(2*os.Getpagesize()+8, []byte{1, 0, 255, 255}, false)
	f.Fuzz(func(t *testing.T, at int, over []byte, deep bool) {
		b := bytes.Clone(whole)
		if at < 0 || at > len(b) {
			return
		}
		copy(b[at:], over)
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_ = verifyFile(path, deep)
		if bytes.Equal(b, whole) && verifyFile(path, true) != nil {
			t.Fatal("a whole file is called damaged")
		}
	})
}

// TestVerifySystem: what the operating system refuses says nothing about the file; that it is cut does.
func TestVerifySystem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() // can be opened, and not be read
	if err := verifyFile(dir, false); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("a folder: got %v", err)
	}
	cut := filepath.Join(dir, "cut")
	if err := os.WriteFile(cut, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := verifyFile(cut, false); !errors.Is(err, ErrDamaged) {
		t.Errorf("a cut file: got %v", err)
	}
}
