package server

import (
	"context"
	"net/http"
	"time"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/stream"
	"github.com/cmemd/cmemd/internal/panics"
)

// progressEvery is how often work tells how far it is.
const progressEvery = 100 * time.Millisecond

// task is work that was found to be possible. It tells how far it is, also from several goroutines at once.
type task[A any] func(ctx context.Context, progress func(done, total uint64)) (A, error)

// work answers with the progress of f and then with its result or its problem. Work that tells nothing for a while is seen to
// live; work waits for its end.
func (s *dispatcher) work(w http.ResponseWriter, r *http.Request, f task[any]) error {
	out, err := stream.NewEvents(w)
	if err != nil {
		return err
	}
	j, err := s.do(r.Context(), r.Pattern, f, out.Progress, out.Beat)
	if err != nil {
		return err
	}
	return s.conclude(out, r, j)
}

// do runs f in a goroutine of its own, hands progress to send from time to time, calls heartbeat where long nothing happens, and returns
// when f has ended. An error of send or heartbeat cancels f, and is returned.
func (s *dispatcher) do(
	ctx context.Context, where string, f task[any], send func(api.Progress) error, heartbeat func() error,
) (*job, error) {
	ctx, cancel := context.WithCancel(ctx)
	j := &job{latest: make(chan api.Progress, 1), ended: make(chan struct{})}
	go func() {
		defer close(j.ended)
		defer panics.Catch(&j.err, s.logger, where)
		j.result, j.err = f(ctx, j.setLatest)
	}()
	defer func() {
		cancel()
		<-j.ended
	}()
	return j, j.report(send, heartbeat)
}

// job is work under way.
type job struct {
	latest chan api.Progress
	ended  chan struct{}
	result any // this and err are read after the end
	err    error
}

// setLatest leaves the latest progress for report, which sends it.
func (j *job) setLatest(done, total uint64) {
	select {
	case <-j.latest:
	default:
	}
	select {
	case j.latest <- api.Progress{Done: done, Total: total}:
	default:
	}
}

// report hands progress to send from time to time until the work ends. Its error is that of send or heartbeat.
func (j *job) report(send func(api.Progress) error, heartbeat func() error) error {
	tick, alive := time.NewTicker(progressEvery), time.NewTicker(stream.Heartbeat)
	defer tick.Stop()
	defer alive.Stop()
	for {
		var err error
		select {
		case <-j.ended:
			return j.sendLatest(send)
		case <-tick.C:
			err = j.sendLatest(send)
		case <-alive.C:
			err = heartbeat()
		}
		if err != nil {
			return err
		}
	}
}

// sendLatest hands over the latest progress, if there is any that was not sent.
func (j *job) sendLatest(send func(api.Progress) error) error {
	select {
	case p := <-j.latest:
		return send(p)
	default:
		return nil
	}
}

// conclude writes how the work ended.
func (s *dispatcher) conclude(out *stream.Events, r *http.Request, j *job) error {
	name, v := api.EventResult, j.result
	if j.err != nil {
		p, known := problemFor(j.err)
		if !known {
			s.logger.Error("work failed", "route", r.Pattern, "err", j.err)
		}
		name, v = api.EventProblem, p
	}
	if err := out.Send("", name, v); err != nil {
		return err
	}
	return out.Flush()
}
