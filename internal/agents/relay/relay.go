package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cmemd/cmemd/internal/agents/known"
	"github.com/cmemd/cmemd/internal/agents/spool"
)

const (
	minAnswerTime = 50 * time.Millisecond  // for the answer, even if reading the payload took the whole budget
	abandonWait   = 100 * time.Millisecond // for the count of what was abandoned
	upPause       = 10 * time.Millisecond  // between two attempts to reach a daemon that is starting
)

// Run carries one payload from Stdin to the daemon and the reply to Stdout, else to the spool. Within InputWait, or the event's
// budget if that is later, plus DiskWait it returns, or calls abandon from another goroutine and is to be left behind: the process
// is expected to end then. A done ctx sends the payload to the spool at once. It never panics.
func Run(ctx context.Context, cfg Config, abandon func(Result)) Result {
	h := newHook(cfg)
	h.limit = time.AfterFunc(h.InputWait+h.DiskWait, func() {
		h.countAbandoned()
		abandon(Result{Outcome: Abandoned, Delivery: h.delivery, Err: context.DeadlineExceeded})
	})
	defer h.limit.Stop()
	return h.guarded(ctx)
}

// countAbandoned writes down that nobody knows what became of the payload, unless it is known to be safe or the disk hangs too.
func (h *hook) countAbandoned() {
	if h.safe.Load() {
		return
	}
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		h.countLoss(errAbandoned)
	}()
	select {
	case <-counted:
	case <-time.After(abandonWait):
	}
}

var errAbandoned = errors.New("relay: the time was up before the payload was posted or kept")

// guarded runs the hook; a panic in it is a lost payload, not a broken agent.
func (h *hook) guarded(ctx context.Context) (r Result) {
	defer func() {
		if p := recover(); p != nil {
			h.result.Outcome, h.result.Err = Lost, fmt.Errorf("relay: panic: %v", p)
		}
		r = h.result
	}()
	h.result = Result{Outcome: Nothing, Delivery: h.delivery}
	h.carry(ctx)
	return h.result
}

// carry reads the payload and brings it where it can.
func (h *hook) carry(ctx context.Context) {
	if !known.IsName(h.Agent) {
		h.result.Err = fmt.Errorf("relay: no agent's name: %q", h.Agent)
		return
	}
	h.safe.Store(h.Disabled) // nothing of it is to be kept
	data, whole, err := readPayload(ctx, h.Stdin, h.InputWait)
	if err != nil && h.Disabled {
		return
	}
	if err != nil {
		h.result.Outcome, h.result.Err = Lost, err
		h.countLoss(err)
		return
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return
	}
	h.payload, h.result.Event = withFolder(h.known, data), eventOf(h.known, data)
	deadline := h.deadline()
	h.limit.Reset(time.Until(deadline) + h.DiskWait)
	if h.Disabled {
		h.countDisabled()
		return
	}
	if !whole {
		_, lost := h.spoolPayload(errors.New("relay: the payload has no end"))
		h.countLoss(lost)
		return
	}
	a, err := h.post(ctx, deadline)
	if err == nil {
		h.answered(a)
		return
	}
	h.unanswered(ctx, deadline, err)
}

// onlyAsks reports whether the hook asks for memory, and reports nothing that happened.
func (h *hook) onlyAsks() bool {
	return h.known.Hooks.BeforeRead != "" && h.result.Event == h.known.Hooks.BeforeRead
}

// opensSession reports whether the agent takes context from this hook's reply.
func (h *hook) opensSession() bool { return slices.Contains(h.known.OpenEvents, h.result.Event) }

// deadline is when the answer must be there.
func (h *hook) deadline() time.Time {
	budget := h.Ordinary
	if h.opensSession() {
		budget = h.Context
	}
	deadline := h.at.Add(budget)
	if least := time.Now().Add(minAnswerTime); deadline.Before(least) {
		return least
	}
	return deadline
}

// answered deals with any answer: the daemon is there, whatever it said.
func (h *hook) answered(a answer) {
	h.safe.Store(a.status <= 500)
	_ = clearUnanswered(h.Home) // only delays the next notice
	switch {
	case a.status == 200:
		h.result.Outcome = Posted
		h.say(a.body)
	case a.status < 300:
		h.result.Outcome = Posted
	case a.status >= 400 && a.status <= 500:
		h.result.Outcome = Refused
		h.result.Err = fmt.Errorf("relay: the daemon answered %d", a.status)
	default:
		_, lost := h.spoolPayload(fmt.Errorf("relay: the daemon answered %d", a.status))
		h.countLoss(lost)
	}
}

// unanswered keeps the payload first; then it sees to it that there is a daemon, and tells the person if there is none
// for long. In a home in which no daemon would start it does nothing: what is written there is another user's to read or to plant.
func (h *hook) unanswered(ctx context.Context, deadline time.Time, cause error) {
	if err := checkHome(h.Home); err != nil {
		h.result.Outcome, h.result.Err = Lost, errors.Join(cause, err)
		return
	}
	name, lost := h.spoolPayload(cause)
	if absent(cause) && h.expectDaemon() && h.opensSession() && h.postWhenUp(ctx, deadline) {
		if lost == nil && name != "" {
			_ = h.spool.Remove(name) // a copy that stays is known by its delivery id
		}
		return
	}
	if h.onlyAsks() {
		return
	}
	h.countLoss(lost)
	tell, u, _ := countUnanswered(h.Home, time.Now(), slices.Contains(h.known.NoticeEvents, h.result.Event))
	if !tell {
		return
	}
	waiting, _, _ := h.spool.Usage()
	h.result.Noticed = true
	h.say(notice(waiting, u))
}

// postWhenUp posts once a daemon that is starting listens, and reports whether it answered by the deadline.
func (h *hook) postWhenUp(ctx context.Context, deadline time.Time) bool {
	for ctx.Err() == nil && time.Until(deadline) > upPause {
		time.Sleep(upPause)
		a, err := h.post(ctx, deadline)
		if err == nil && a.status != 503 {
			h.result.Err = nil
			h.answered(a)
			return true
		}
		if err != nil && !absent(err) {
			return false
		}
	}
	return false
}

// spoolPayload stores the payload in the spool because of cause, and returns its name there, or why it is lost. In a home that is
// not this user's alone nothing is written; and of an event that only asks for memory there is nothing to keep.
func (h *hook) spoolPayload(cause error) (name string, lost error) {
	if err := checkHome(h.Home); err != nil {
		h.result.Outcome, h.result.Err = Lost, errors.Join(cause, err)
		return "", err
	}
	if h.onlyAsks() {
		h.safe.Store(true)
		h.result.Err = cause
		return "", nil
	}
	name, lost = h.spool.Put(spool.Entry{
		Agent: h.Agent, Delivery: h.delivery, OccurredAt: h.at, Ignore: ignoreFiles(folderOf(h.payload)), Body: h.payload,
	})
	h.result.Outcome, h.result.Err = Spooled, cause
	h.safe.Store(lost == nil || errors.Is(lost, spool.ErrUnsynced))
	if errors.Is(lost, spool.ErrUnsynced) {
		h.result.Err = errors.Join(cause, lost)
		return name, nil
	}
	if lost != nil {
		h.result.Outcome, h.result.Err = Lost, errors.Join(cause, lost)
	}
	return name, lost
}

// countLoss writes down that the payload is lost, if it is; where not even that is possible it is not counted.
func (h *hook) countLoss(lost error) {
	if lost != nil {
		_ = countLost(h.Home, lost)
	}
}

// say hands a reply to the agent. One that does not listen any more has no use for it.
func (h *hook) say(reply []byte) {
	if len(reply) > 0 {
		_, _ = h.Stdout.Write(reply)
	}
}
