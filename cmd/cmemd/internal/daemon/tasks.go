package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// tasks is the work of a daemon that goes on in goroutines of its own. What is started last is stopped first, and
// nothing is stopped before what came after it has ended. It belongs to one goroutine.
type tasks struct {
	onFailure func(error) // called when a task ends before it was asked to; at once, and by several
	running   []*task
}

// A task is one of them.
type task struct {
	name   string
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended
	err    error         // set before done is closed
}

// start runs work until stop. Values of ctx reach it, its end does not: only stop ends a task.
func (t *tasks) start(ctx context.Context, name string, work func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	one := &task{name: name, cancel: cancel, done: make(chan struct{})}
	t.running = append(t.running, one)
	go func() {
		defer close(one.done)
		one.err = work(ctx)
		if ctx.Err() == nil {
			t.onFailure(fmt.Errorf("%s ended: %w", name, cmp.Or(one.err, errEnded)))
		}
	}()
}

// errEnded is a task that ended without being asked to, and without a reason.
var errEnded = errors.New("without a reason")

// stop ends all tasks, the last first, waits for each, and returns their errors.
func (t *tasks) stop() error {
	var errs []error
	for i := len(t.running) - 1; i >= 0; i-- {
		one := t.running[i]
		one.cancel()
		<-one.done
		if one.err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", one.name, one.err))
		}
	}
	t.running = nil
	return errors.Join(errs...)
}
