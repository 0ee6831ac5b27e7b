package terminal

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"github.com/cmemd/cmemd/internal/sleep"
)

// closedEvery is the time between two looks whether somebody reads.
const closedEvery = 200 * time.Millisecond

// UntilClosed returns a context that also ends when nobody reads any more what is written to out, as `| head -1` leaves it, for commands
// that may wait long for what they print next. It is watched until stop is called.
func UntilClosed(ctx context.Context, out io.Writer) (reading context.Context, stop context.CancelFunc) {
	reading, cancel := context.WithCancel(ctx)
	f, ok := out.(*os.File)
	if !ok {
		return reading, cancel
	}
	var watching sync.WaitGroup
	watching.Go(func() {
		for sleep.For(reading, closedEvery) == nil {
			if isUnread(f) {
				cancel()
			}
		}
	})
	return reading, func() {
		cancel()
		watching.Wait()
	}
}
