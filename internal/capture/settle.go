package capture

import (
	"context"
	"errors"
	"sync"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
)

// maxSettling is how many sessions are settled at once: what they lead to is appended together.
const maxSettling = 16

// Settle ends what sessions left unfinished that have been silent for idle_stop, as session.Settle says. It is asked for once
// transcripts were ingested, all of them: a session may stand in several. What a session refuses for good is counted; errors are
// those that pass, and the context's, and some sessions may have been settled before.
func (p *Pipeline) Settle(ctx context.Context, silent []SilentSession) (Settled, error) {
	var (
		mu   sync.Mutex // guards out and errs
		out  Settled
		errs []error
		wg   sync.WaitGroup
	)
	room := make(chan struct{}, maxSettling)
	for _, s := range silent {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			receipt, err := actors.DoWhenRoom(ctx, p.cfg.Sink, s.Session, session.Settle{ID: uuid.Must(uuid.NewV7()), At: p.cfg.Now(), Last: s.Last})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				out.add(receipt)
			case errors.Is(err, actors.ErrParked):
				out.Refused++
			default:
				errs = append(errs, err)
			}
		})
	}
	wg.Wait()
	return out, errors.Join(errs...)
}

// add counts a session that took its command.
func (s *Settled) add(receipt actors.Receipt) {
	if receipt.Position > 0 {
		s.Ended++
		s.Position = max(s.Position, receipt.Position)
	}
}
