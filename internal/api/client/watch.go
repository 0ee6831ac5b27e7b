package client

import (
	"context"
	"errors"
	"io"
	"net/http/httptrace"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cmemd/cmemd/internal/api"
)

// timeouts are how long a daemon that does not answer is waited for. Work may take as long as it takes, and need not say anything
// meanwhile: a request that is silent is waited for as long as the daemon says at another connection that it is there.
type timeouts struct {
	silence time.Duration // without a byte, after which the daemon is asked whether it is there
	answer  time.Duration // that it may take to say so, which costs it nothing
}

// defaultTimeouts is api.ErrNoAnswer after five seconds.
var defaultTimeouts = timeouts{silence: time.Second, answer: 4 * time.Second}

// A watchdog is kept over one request, from its connection on.
type watchdog struct {
	heard func()      // tells a sign of life
	hung  func() bool // whether the request was ended because the daemon hangs
	end   func()      // is called when the request is over, and returns when nothing watches it any more
}

// watch returns the context of one request, which is cancelled where the daemon hangs: ask asks it whether it is there.
func (p timeouts) watch(ctx context.Context, ask func(context.Context) error) (context.Context, watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	var signs atomic.Int64
	timer := time.NewTimer(p.silence)
	timer.Stop() // until there is a connection: making one has limits of its own
	heard := func() {
		signs.Add(1)
		timer.Reset(p.silence)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			before := signs.Load()
			if p.hangs(ctx, ask) && signs.Load() == before {
				cancel(api.ErrNoAnswer)
				return
			}
			timer.Reset(p.silence)
		}
	}()
	hung := func() bool { return context.Cause(ctx) == api.ErrNoAnswer }
	end := func() {
		cancel(nil)
		<-done
		timer.Stop()
	}
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { heard() }})
	return traced, watchdog{heard: heard, hung: hung, end: end}
}

// hangs reports whether the daemon does not say in time that it is there. One that is gone does not hang: its connections end.
func (p timeouts) hangs(ctx context.Context, ask func(context.Context) error) bool {
	limited, cancel := context.WithTimeout(ctx, p.answer)
	defer cancel()
	err := ask(limited)
	return err != nil && ctx.Err() == nil && (limited.Err() != nil || unaccepted(err))
}

// unaccepted reports whether err is that of a daemon that listens, and whose queue of connections is full.
func unaccepted(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// watchedBody is the body of an answer that is watched: each byte is a sign of life.
type watchedBody struct {
	io.ReadCloser
	watch watchdog
}

// Read implements io.Reader. Its error is api.ErrNoAnswer where the daemon hangs.
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.watch.heard()
	}
	if err != nil && b.watch.hung() {
		err = api.ErrNoAnswer
	}
	return n, err
}

// Close implements io.Closer.
func (b *watchedBody) Close() error {
	err := b.ReadCloser.Close()
	b.watch.end()
	return err
}
