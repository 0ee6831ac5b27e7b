package relay

import (
	"context"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A hook that is told to end still takes what its agent has written, and does not wait for more.
func TestReadPayloadWhenToldToEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		parts  []string
		pause  time.Duration // before each part
		closed bool
		want   string
		whole  bool
		took   time.Duration
	}{
		{"written and closed", []string{`{"a":1}`}, 0, true, `{"a":1}`, true, 0},
		{"a moment later", []string{`{"a"`, `:1}`}, 20 * time.Millisecond, true, `{"a":1}`, true, 40 * time.Millisecond},
		{"whole, but open", []string{`{"a":1}`}, 0, false, `{"a":1}`, true, lastRead},
		{"half", []string{`{"a":1`}, 0, false, `{"a":1`, false, lastRead},
		{"nothing", nil, 0, false, ``, false, lastRead},
		{"too late", []string{`{"a":1}`}, lastRead + time.Millisecond, true, ``, false, lastRead},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				r, w := io.Pipe()
				var agent sync.WaitGroup
				defer agent.Wait()
				defer r.Close()
				defer w.Close()
				agent.Go(func() {
					for _, part := range c.parts {
						time.Sleep(c.pause)
						_, _ = io.WriteString(w, part)
					}
					if c.closed {
						w.Close()
					}
				})
				start := time.Now()
				data, whole, err := readPayload(ctx, r, time.Second)
				if string(data) != c.want || whole != c.whole || err != nil {
					t.Errorf("got %q, whole %v, %v; want %q, %v", data, whole, err, c.want, c.whole)
				}
				if took := time.Since(start); took != c.took {
					t.Errorf("took %v, want %v", took, c.took)
				}
			})
		})
	}
}
