package daemon

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

func TestTasksStopInOppositeOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var ended []string
		all := &tasks{onFailure: func(err error) { t.Errorf("failed: %v", err) }}
		outer, cancel := context.WithCancel(t.Context())
		for _, name := range []string{"first", "second", "third"} {
			all.start(outer, name, func(ctx context.Context) error {
				<-ctx.Done()
				mu.Lock()
				defer mu.Unlock()
				ended = append(ended, name)
				return nil
			})
		}
		cancel() // ends no task
		synctest.Wait()
		if len(ended) != 0 {
			t.Fatalf("ended with the outer context: %v", ended)
		}
		if err := all.stop(); err != nil {
			t.Error(err)
		}
		if want := []string{"third", "second", "first"}; !slices.Equal(ended, want) {
			t.Errorf("ended %v, want %v", ended, want)
		}
	})
}

func TestTaskThatEnds(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, err := range []error{broken, nil} {
		synctest.Test(t, func(t *testing.T) {
			var got error
			all := &tasks{onFailure: func(err error) { got = err }}
			all.start(t.Context(), "views", func(context.Context) error { return err })
			synctest.Wait()
			if got == nil || !strings.HasPrefix(got.Error(), "views ended: ") || !errors.Is(got, cmp.Or(err, errEnded)) {
				t.Errorf("a task that ended with %v is told as %v", err, got)
			}
			if stopped := all.stop(); !errors.Is(stopped, err) {
				t.Errorf("stop returned %v, want %v", stopped, err)
			}
		})
	}
}
