package sharing

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestWithin: an answer waits for what others forgot, but no longer than two seconds, and not at all where nobody is asked.
func TestWithin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ ready, ended, want time.Duration }{
		"the store answers":       {ready: 300 * time.Millisecond, ended: time.Hour, want: 300 * time.Millisecond},
		"the store never answers": {ready: time.Hour, ended: 2 * time.Hour, want: settleWait},
		"the daemon ends":         {ready: time.Hour, ended: time.Second, want: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.ended)
				defer cancel()
				ready, began := make(chan struct{}), time.Now()
				timer := time.AfterFunc(c.ready, func() { close(ready) })
				defer timer.Stop()
				if waitAtMost(ctx, ready, settleWait); time.Since(began) != c.want {
					t.Errorf("it returned after %v, want %v", time.Since(began), c.want)
				}
			})
		})
	}
	select {
	case <-New(Config{Dir: t.TempDir()}).Settled():
	default:
		t.Error("a home in no space waits for others")
	}
}
