package sleep

import (
	"context"
	"time"
)

// For returns nil when d has passed, or ctx.Err() when ctx is done before.
func For(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
