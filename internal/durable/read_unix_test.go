//go:build unix

package durable_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cmemd/cmemd/internal/durable"
)

// TestReadLinked follows a link to a file, and never waits for a pipe.
func TestReadLinked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, pipe, link, toPipe := filepath.Join(dir, "file"), filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "topipe")
	err := errors.Join(os.WriteFile(file, []byte("words"), 0o600), syscall.Mkfifo(pipe, 0o600), os.Symlink(file, link), os.Symlink(pipe, toPipe))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link} {
		if b, err := durable.ReadLinked(path, 5); err != nil || string(b) != "words" {
			t.Errorf("%s: %q, %v", path, b, err)
		}
		if _, err := durable.ReadLinked(path, 4); !errors.Is(err, durable.ErrTooLong) {
			t.Errorf("%s, too long: %v", path, err)
		}
	}
	for _, path := range []string{pipe, toPipe, dir} {
		if _, err := durable.ReadLinked(path, 5); !errors.Is(err, durable.ErrIrregular) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
