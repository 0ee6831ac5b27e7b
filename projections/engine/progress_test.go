package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/cmemd/cmemd/events"
)

// TestProgress: who waits is woken when it is there, when it ends, and when nobody wants it any more, and not before.
func TestProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p Progress
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		wait := func(at events.Position) <-chan error {
			done := make(chan error, 1)
			go func() {
				_, err := p.Wait(ctx, at)
				done <- err
			}()
			synctest.Wait()
			return done
		}
		first, second, third := wait(3), wait(5), wait(9)
		p.Reach(3)
		if err := <-first; err != nil {
			t.Errorf("reached: got %v", err)
		}
		own := errors.New("own")
		p.Stop(own)
		if err := <-second; !errors.Is(err, own) {
			t.Errorf("stopped: got %v", err)
		}
		if err := <-third; !errors.Is(err, own) {
			t.Errorf("stopped, another one: got %v", err)
		}
		if at, err := p.Wait(ctx, 2); at != 3 || err != nil {
			t.Errorf("reached before it was stopped: got %d, %v", at, err)
		}
		p.Stop(nil)
		fourth := wait(4)
		cancel()
		if err := <-fourth; !errors.Is(err, context.Canceled) {
			t.Errorf("given up: got %v", err)
		}
	})
}
