package homedir

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

func TestLockBeside(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.toml")
	synctest.Test(t, func(t *testing.T) {
		held, err := LockBeside(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if f, err := LockBeside(t.Context(), path); err == nil {
			_ = f.Close()
			t.Skip("no locks here")
		} else if took := time.Since(began); !errors.Is(err, ErrLocked) || took < lockWait || took > lockWait+lockPause {
			t.Errorf("got %v after %v", err, took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), lockWait/2)
		defer cancel()
		if _, err := LockBeside(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v of a command that is over", err)
		}
		time.AfterFunc(lockWait/2, func() { _ = held.Close() })
		f, err := LockBeside(t.Context(), path)
		if err != nil {
			t.Fatalf("given back, it is not had: %v", err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}
