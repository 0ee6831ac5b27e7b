package sharing

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/internal/transient"
	"github.com/cmemd/cmemd/testkit/storetest"
)

// TestLateStoreThatHangs: calls end with their contexts, one attempt is under way however many call, and what it brings is used.
func TestLateStoreThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		let, attempts := make(chan struct{}), 0
		memory := storetest.NewMemory()
		l := &lazyStore{open: func() (store.Store, error) {
			attempts++
			<-let
			return memory.Connect(nil), nil
		}}
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, _, err := l.Get(ctx, "s/now/space"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a call of a store that hangs: %v", err)
			}
			cancel()
		}
		for _, err := range l.Watch(canceled(t), "s/now/") {
			t.Errorf("a watch whose context is done yields %v", err)
		}
		if l.Overwrites() {
			t.Error("before it is open it promises to overwrite")
		}
		close(let)
		if _, err := l.Create(t.Context(), "s/now/space", []byte("x")); err != nil {
			t.Error(err)
		}
		if attempts != 1 {
			t.Errorf("%d attempts, want 1", attempts)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := l.Create(t.Context(), "s/now/a", nil); !errors.Is(err, store.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestLateStoreTriesAgain: what kept a store from being opened may pass, and the next call tries again.
func TestLateStoreTriesAgain(t *testing.T) {
	t.Parallel()
	why, attempts := errors.New("the mount is away"), 0
	l := &lazyStore{open: func() (store.Store, error) {
		if attempts++; attempts < 3 {
			return nil, why
		}
		return storetest.NewMemory().Connect(nil), nil
	}}
	for range 2 {
		if _, err := l.List(t.Context(), "", "", 1); !errors.Is(err, why) || !transient.Is(err) {
			t.Errorf("got %v, want one that may pass: %v", err, why)
		}
	}
	if _, err := l.List(t.Context(), "", "", 1); err != nil || attempts != 3 {
		t.Errorf("the third call: %v, after %d attempts", err, attempts)
	}
}

// TestLateStoreClosedMeanwhile: a store that was opened after Close is closed.
func TestLateStoreClosedMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		late := &closing{}
		l := &lazyStore{open: func() (store.Store, error) {
			<-let
			return late, nil
		}}
		if _, _, err := l.Get(canceled(t), "s/a"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		close(let)
		synctest.Wait()
		if late.closed != 1 {
			t.Errorf("it was closed %d times, want once", late.closed)
		}
	})
}

// closing is a store that counts how often it is closed.
type closing struct {
	store.Store
	closed int
}

func (c *closing) Close() error {
	c.closed++
	return nil
}

// TestAddresses: what lets a machine in is not shown.
func TestAddresses(t *testing.T) {
	t.Parallel()
	pin := "?pin=7bc2f39bc9711b6cb7cbb1a3f1ff94b8d7d7a6c15d5d46f0ae1d5d5d9f0c2a51"
	for text, want := range map[string]string{
		"/sync/cmemd/": "/sync/cmemd",
		"nats://SECRET@desk:4222" + pin + ",nats://SECRET@192.168.1.5:4222" + pin: "nats://desk:4222,nats://192.168.1.5:4222",
		"tls://me:SECRET@cluster:4222":                                            "tls://cluster:4222",
	} {
		a, err := parseAddress(text)
		if err != nil || a.shown() != want {
			t.Errorf("%q is shown as %q, %v; want %q", text, a.shown(), err, want)
		}
		dir := t.TempDir()
		if err := a.write(dir); err != nil {
			t.Error(err)
		}
		if again, err := readAddress(dir); err != nil || again != a {
			t.Errorf("%q is read back as %q, %v", a, again, err)
		}
	}
	for _, text := range []string{"", "sync", "nats://", "nats://h:4222/path"} {
		if a, err := parseAddress(text); err == nil {
			t.Errorf("%q is taken as %q", text, a)
		}
	}
}
