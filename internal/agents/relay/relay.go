package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cmemd/cmemd/internal/agents/known"
)

// Budgets. An ordinary hook is waited for at every tool call; one that opens a session brings context, and agents let
// it take longer. See Config.
const (
	ordinaryBudget = 300 * time.Millisecond
	contextBudget  = 1500 * time.Millisecond
	diskWait       = 3 * time.Second        // a disk that is busy with others may take a second for one file
	leastAnswer    = 50 * time.Millisecond  // for the answer, even if reading the payload took the whole budget
	abandonWait    = 100 * time.Millisecond // for the count of what was abandoned
	upPause        = 10 * time.Millisecond  // between two looks for a daemon that is starting
)

// Config says what one hook works with. Only Agent and Home are required.
type Config struct {
	Agent   string    // lower case letters, digits, ".", "_", "-"; at most 64
	Home    string    // see Home
	Version string    // of this program, for the daemon; "" means "unknown"
	Keep    Keep      // what of a payload the spool may keep; nil: nothing
	Stdin   io.Reader // the payload; nil is empty
	Stdout  io.Writer // for the reply, one write; nil discards it

	Ordinary  time.Duration // from the start to the answer; 0 means 300 ms
	Context   time.Duration // the same where a session starts; 0 means 1.5 s
	InputWait time.Duration // for Stdin; 0 means 5 s
	DiskWait  time.Duration // for the disk, after the budget; 0 means 3 s

	// Dial connects to the daemon; nil means the socket of Home. Start starts one without waiting for it, and is called
	// only if Dial finds none; nil means never.
	Dial  func(context.Context) (net.Conn, error)
	Start func(home string) error
}

// An Outcome says what became of a payload.
type Outcome string

// The outcomes of a hook.
const (
	Nothing   Outcome = "nothing"   // there was no payload
	Posted    Outcome = "posted"    // the daemon took it
	Refused   Outcome = "refused"   // the daemon said no: 4xx or 500
	Spooled   Outcome = "spooled"   // it is on disk in the spool
	Lost      Outcome = "lost"      // neither; counted where that was possible
	LeftOut   Outcome = "left out"  // nothing of it may be recorded
	Abandoned Outcome = "abandoned" // the time was up before it was known
)

// A Result tells what Run did. Agents never see it: a hook always ends well.
type Result struct {
	Outcome  Outcome
	Event    string // the agent's own name of it
	Delivery string // the id that the daemon, or the spool, was given
	Started  bool   // a daemon was started
	Noticed  bool   // the person was told that cmemd does not answer
	Err      error  // why it was not posted, for tests and debugging
}

// Run carries one payload from Stdin to the daemon and the reply to Stdout, else to the spool. It returns within
// InputWait, or the event's budget if that is later, plus DiskWait; the process is expected to end then, because what
// hangs is left behind. A done ctx sends the payload to the spool at once. It never panics.
func Run(ctx context.Context, cfg Config) Result {
	h := newHook(cfg)
	done := make(chan Result, 1)
	go func() { done <- h.guarded(ctx) }()
	select {
	case r := <-done:
		return r
	case <-h.limit.C:
		h.countAbandoned()
		return Result{Outcome: Abandoned, Delivery: h.delivery, Err: context.DeadlineExceeded}
	}
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

// A hook is one run. Only the goroutine of guarded touches what is below delivery.
type hook struct {
	Config
	known    known.Agent // Config.Agent; zero: nothing is known of it
	at       time.Time
	limit    *time.Timer // at which Run returns whatever hangs
	safe     atomic.Bool // the payload was answered, or is in the spool
	delivery string
	spool    *Spool
	payload  []byte
	result   Result
}

func newHook(cfg Config) *hook {
	now := time.Now().UTC()
	h := &hook{Config: cfg, at: now, delivery: newDelivery(now), spool: NewSpool(cfg.Home, cfg.Keep)}
	h.known, _ = known.ByName(cfg.Agent)
	h.spool.written = func() { h.safe.Store(true) }
	h.Ordinary = orDefault(cfg.Ordinary, ordinaryBudget)
	h.Context = orDefault(cfg.Context, contextBudget)
	h.InputWait = orDefault(cfg.InputWait, inputWait)
	h.DiskWait = orDefault(cfg.DiskWait, diskWait)
	if h.Stdin == nil {
		h.Stdin = bytes.NewReader(nil)
	}
	if h.Stdout == nil {
		h.Stdout = io.Discard
	}
	if h.Dial == nil {
		h.Dial = dialHome(cfg.Home)
	}
	if !printable(cfg.Version) {
		h.Version = "unknown"
	}
	h.limit = time.NewTimer(h.InputWait + h.DiskWait)
	return h
}

func orDefault(d, standard time.Duration) time.Duration {
	if d <= 0 {
		return standard
	}
	return d
}

// validAgent reports whether s may stand in a request and in a spool file as it is.
func validAgent(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 64 && s != "." && s != ".."
}

// printable reports whether s may stand in a header as it is.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

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
	if !validAgent(h.Agent) {
		h.result.Err = fmt.Errorf("relay: no agent's name: %q", h.Agent)
		return
	}
	data, whole, err := readPayload(ctx, h.Stdin, h.InputWait)
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
	if !whole {
		_, lost := h.keep(errors.New("relay: the payload has no end"))
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

// opensSession reports whether the agent takes context from this hook's reply.
func (h *hook) opensSession() bool { return slices.Contains(h.known.Opens, h.result.Event) }

// deadline is when the answer must be there.
func (h *hook) deadline() time.Time {
	budget := h.Ordinary
	if h.opensSession() {
		budget = h.Context
	}
	deadline := h.at.Add(budget)
	if least := time.Now().Add(leastAnswer); deadline.Before(least) {
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
		_, lost := h.keep(fmt.Errorf("relay: the daemon answered %d", a.status))
		h.countLoss(lost)
	}
}

// unanswered keeps the payload first; then it sees to it that there is a daemon, and tells the person if there is none
// for long.
func (h *hook) unanswered(ctx context.Context, deadline time.Time, cause error) {
	name, lost := h.keep(cause)
	if absent(cause) && h.expectDaemon() && h.opensSession() && h.postWhenUp(ctx, deadline) {
		if lost == nil && name != "" {
			_ = h.spool.Remove(name) // a copy that stays is known by its delivery id
		}
		return
	}
	h.countLoss(lost)
	tell, u, _ := countUnanswered(h.Home, time.Now(), slices.Contains(h.known.Speaks, h.result.Event))
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

// keep stores the payload in the spool because of cause, and returns its name there, or why it is lost. What may not be
// recorded has no name and is not lost.
func (h *hook) keep(cause error) (name string, lost error) {
	name, lost = h.spool.Put(Entry{Agent: h.Agent, Delivery: h.delivery, OccurredAt: h.at, Body: h.payload})
	h.result.Outcome, h.result.Err = Spooled, cause
	h.safe.Store(lost == nil || errors.Is(lost, ErrPrivate) || errors.Is(lost, ErrUnsynced))
	if errors.Is(lost, ErrPrivate) {
		h.result.Outcome = LeftOut
		return "", nil
	}
	if errors.Is(lost, ErrUnsynced) {
		h.result.Err = errors.Join(cause, lost)
		return name, nil
	}
	if lost != nil {
		h.result.Outcome, h.result.Err = Lost, errors.Join(cause, lost)
	}
	return name, lost
}

// countLoss writes down that the payload is lost, if it is; where not even that is possible nobody can be told.
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
