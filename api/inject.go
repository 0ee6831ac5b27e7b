package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/hooks"
	"github.com/cmemd/cmemd/hooks/relay"
	"github.com/cmemd/cmemd/recall"
	"github.com/cmemd/cmemd/session"
)

// reply is what goes back to the agent: memory where it takes some, and a line for the person where there is one.
func (s *Server) reply(ctx context.Context, t taken, d delivery, began time.Time) []byte {
	var a hooks.Answer
	if t.report.Wants != hooks.WantNone {
		a.Context = s.inject(ctx, t.report, d, began)
		a.Notice = s.notice(ctx)
	}
	return t.agent.Reply(t.report, a)
}

// notice is the line for the person, marked so that it is known when it comes back.
func (s *Server) notice(ctx context.Context) string {
	if s.cfg.Notice == nil {
		return ""
	}
	return relay.Notice(s.cfg.Notice(ctx))
}

// inject chooses memory for a starting session and records that it was given: what is not on record is not given. It
// gives nothing rather than something late.
func (s *Server) inject(ctx context.Context, r hooks.Report, d delivery, began time.Time) string {
	left := s.cfg.ContextTimeout - s.cfg.Now().Sub(began)
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	mem, err := s.remember(ctx, recall.Ask{
		ProjectRoot: r.Origin.ProjectRoot, Project: r.Origin.Project, Session: r.Origin.Session(), Source: string(r.Wants),
		Now: d.at,
	})
	if err == nil && mem.Text == "" {
		return ""
	}
	if err == nil {
		err = s.recordInjection(ctx, r, d, mem)
	}
	if err != nil {
		s.metrics.withheld.Inc()
		s.logger.Warn("a session starts without memory", "session", r.Origin.Session(), "err", err)
		return ""
	}
	return mem.Text
}

// errEnding means that nothing is begun any more.
var errEnding = errors.New("api: the server ends")

// remember asks for memory, and does not wait for an answer longer than ctx.
func (s *Server) remember(ctx context.Context, ask recall.Ask) (recall.Context, error) {
	type answer struct {
		mem recall.Context
		err error
	}
	got := make(chan answer, 1)
	helped := s.help(func() {
		a := answer{err: errors.New("api: no memory was chosen")}
		defer func() {
			if p := recover(); p != nil {
				a.err = s.caught("choice of memory", p)
			}
			got <- a
		}()
		a.mem, a.err = s.choose(ctx, ask)
	})
	if !helped {
		return recall.Context{}, errEnding
	}
	select {
	case a := <-got:
		return a.mem, a.err
	case <-ctx.Done():
		return recall.Context{}, ctx.Err()
	}
}

// choose asks for memory that knows all that the log holds now: what was superseded, forgotten or flagged until this
// moment is not given. It does not run after what is appended meanwhile, so that a busy log starves nobody.
func (s *Server) choose(ctx context.Context, ask recall.Ask) (recall.Context, error) {
	last, err := s.cfg.Log.Last(ctx)
	if err != nil {
		return recall.Context{}, fmt.Errorf("api: memory: %w", err)
	}
	if err := s.cfg.Recall.Wait(ctx, last); err != nil {
		return recall.Context{}, fmt.Errorf("api: the views do not know position %d yet: %w", last, err)
	}
	return s.cfg.Recall.Context(ctx, ask)
}

// recordInjection appends what is about to be given. The same delivery is on record once.
func (s *Server) recordInjection(ctx context.Context, r hooks.Report, d delivery, mem recall.Context) error {
	_, err := s.cfg.System.Do(ctx, r.Origin.Session(), session.Capture{
		ID: s.cfg.NewID(), Key: events.KeyOf("injection", d.id.String()), At: s.cfg.Now(), Origin: r.Origin,
		Event: events.ContextInjected{
			Hook: string(r.Wants), IDs: mem.IDs, Characters: mem.Characters, Position: uint64(mem.Position),
		},
	})
	return err
}
