package jet

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/internal/sleep"
)

// A call may take Config.Timeout and what its bytes take at 500 kbit/s: half of 1 Mbit/s, for there may be two at once.
const (
	perByte   = 16 * time.Microsecond
	bodyBytes = store.MaxBody * 4 / 3 // of an answer with a body: it is base64
)

// do does one call over whose connection so many bytes go, unless ctx is over, the store is closed, or check is an error. It ends
// where the connection does: nats.go would wait for an answer that cannot come.
func (j *Jet) do(ctx context.Context, name, key string, bytes int, check error, do func(context.Context) error) error {
	var err error
	switch {
	case j.isClosed():
		err = store.ErrClosed
	case check != nil:
		err = check
	case ctx.Err() != nil:
		err = ctx.Err()
	default:
		err = j.ask(ctx, j.timeout+time.Duration(bytes)*perByte, do)
	}
	return j.wrap(name, key, err)
}

func (j *Jet) ask(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	c := j.begin(cancel)
	defer j.end(c)
	if !j.conn.IsConnected() {
		return errNoConnection
	}
	err := do(limited)
	if ctx.Err() == nil && errors.Is(err, context.Canceled) {
		return errUnanswered
	}
	return err
}

// The time between two tries of a change that was not done.
const (
	retryLow  = 5 * time.Millisecond
	retryHigh = 200 * time.Millisecond
)

// untilDone does a change again while it surely was not done: no server answers for the stream yet, as in an election, or another
// change of the object is under way, which a cluster refuses before it knows what becomes of the first. It gives up with ctx.
func untilDone(ctx context.Context, do func() error) error {
	for pause := retryLow; ; pause = min(2*pause, retryHigh) {
		err := do()
		if !errors.Is(err, errBusy) && !errors.Is(err, jetstream.ErrNoStreamResponse) {
			return err
		}
		if sleep.For(ctx, pause) != nil {
			return err
		}
	}
}
