// Package follow drives in tests what follows a log: views, an index.
package follow

import (
	"context"
	"sync"
)

type tb interface {
	Helper()
	Fatal(args ...any)
	Cleanup(f func())
}

// Run runs a follower until the returned function is called, which reports what Run returned, or until the test ends.
func Run(t tb, follower interface {
	Run(ctx context.Context) error
}) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- follower.Run(ctx) }()
	stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { stop() })
	return stop
}

// MustCatchUp brings a follower to the log's end.
func MustCatchUp(t tb, follower interface {
	CatchUp(ctx context.Context) error
}) {
	t.Helper()
	if err := follower.CatchUp(context.Background()); err != nil {
		t.Fatal(err)
	}
}
