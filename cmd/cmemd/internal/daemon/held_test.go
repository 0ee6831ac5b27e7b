package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestPersist: a full disk is waited for as long as it is full, and anything else five minutes.
func TestPersist(t *testing.T) {
	t.Parallel()
	full, other := fmt.Errorf("copy: %w", syscall.ENOSPC), errors.New("copy: something else")
	for name, c := range map[string]struct {
		err     error
		fails   int // times
		wantErr error
		took    time.Duration
	}{
		"at once":              {nil, 0, nil, 0},
		"full for an hour":     {full, 720, nil, time.Hour},
		"quota for an hour":    {syscall.EDQUOT, 720, nil, time.Hour},
		"fails once":           {other, 1, nil, heldPause},
		"fails for ever":       {other, 1_000, other, heldTries * heldPause},
		"fails for five times": {other, 5, nil, 5 * heldPause},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began, calls := time.Now(), 0
				path, err := persist(slog.New(slog.DiscardHandler), func() (string, error) {
					if calls++; calls <= c.fails {
						return "", c.err
					}
					return "held", nil
				})
				if !errors.Is(err, c.wantErr) || time.Since(began) != c.took || (path == "held") != (c.wantErr == nil) {
					t.Errorf("got %q, %v after %v, want %v after %v", path, err, time.Since(began), c.wantErr, c.took)
				}
			})
		})
	}
}
