//go:build unix

package install

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/cmemd/cmemd/internal/durable"
)

// TestPipes: neither a record nor a backup that is a named pipe is waited for.
func TestPipes(t *testing.T) {
	t.Parallel()
	s := Store{Dir: t.TempDir()}
	if err := s.keep([]byte("words")); err != nil {
		t.Fatal(err)
	}
	sum := sumOf([]byte("words"))
	err := errors.Join(os.Remove(s.backupPath(sum)), syscall.Mkfifo(s.backupPath(sum), 0o600), syscall.Mkfifo(s.recordPath("codex"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load("codex"); !errors.Is(err, durable.ErrIrregular) {
		t.Errorf("a record: %v", err)
	}
	if _, err := s.before(&FileRecord{Existed: true, Before: sum}); !errors.Is(err, durable.ErrIrregular) {
		t.Errorf("a backup: %v", err)
	}
}
