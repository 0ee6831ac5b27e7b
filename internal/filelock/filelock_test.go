package filelock_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cmemd/cmemd/internal/filelock"
)

func TestTry(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no locks here")
	}
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	try := func(f *os.File, want bool) {
		t.Helper()
		if got, err := filelock.Try(f); got != want || err != nil {
			t.Errorf("Try = %v, %v; want %v", got, err, want)
		}
	}
	first, second := open(), open()
	try(first, true)
	try(second, false)
	try(first, true) // it has it
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	try(second, true)
	if _, err := filelock.Try(first); err == nil {
		t.Error("a file that is closed was locked")
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	open := func(want bool) *os.File {
		t.Helper()
		f, free, err := filelock.Open(path)
		if free != want || (f != nil) != want || err != nil {
			t.Fatalf("Open = %v, %v, %v; want free %v", f, free, err, want)
		}
		return f
	}
	held := open(true)
	open(false)
	if err := filelock.Release(held); err != nil {
		t.Fatal(err)
	}
	if err := filelock.Release(open(true)); err != nil {
		t.Fatal(err)
	}
	if _, free, err := filelock.Open(filepath.Join(path, "below a file")); free || err == nil {
		t.Errorf("Open = %v, %v; want an error", free, err)
	}
}
