package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/panics"
	"github.com/cmemd/cmemd/internal/refusal"
	"github.com/cmemd/cmemd/internal/transient"
)

const (
	// rescueEvery is how often the spool is searched for what hooks that ended too early left there.
	rescueEvery = 10 * time.Second

	// drainBatch and drainBytes are how many entries of one session in a row, and how many bytes of them, go into one
	// append: a sync for each would make a full spool wait for minutes.
	drainBatch = 64
	drainBytes = 4 << 20
)

// Drain brings what hooks left in the spool into the log, oldest first, until ctx is done; then it returns nil. What
// will never be taken becomes a dead letter with its reason; what cannot be taken now is tried again. An entry is removed when
// it is on disk in the log. Requests may be served meanwhile: a payload that is posted too is recorded once. It is
// called once; without a spool it only waits. A file that cannot be read or moved is reported once and holds up no other.
// Drained is closed after its first whole pass.
func (p *Pipeline) Drain(ctx context.Context) error {
	tick := time.NewTicker(p.cfg.DrainEvery)
	defer tick.Stop()
	defer close(p.drainEnded)
	var rescued, renewed time.Time
	passed := false
	for {
		whole := true
		if p.cfg.Spool != nil {
			rescued, renewed = p.rescue(rescued), p.renewKeys(renewed)
			whole = p.drainOnce(ctx)
		}
		if whole && !passed {
			passed = true
			close(p.drained)
		}
		p.recordQuiet(ctx)
		select {
		case <-tick.C:
		case answer := <-p.passes:
			answer <- p.drainOnce(ctx)
		case <-ctx.Done():
			return nil
		}
	}
}

// Drained is closed once Drain has gone through the whole spool for the first time: what hooks kept while no daemon took it
// is in the log then, or will never be.
func (p *Pipeline) Drained() <-chan struct{} { return p.drained }

// within reports whether less than d has passed from last to now. A clock that was set back since tells nothing.
func within(last, now time.Time, d time.Duration) bool {
	age := now.Sub(last)
	return age >= 0 && age < d
}

func (p *Pipeline) rescue(last time.Time) time.Time {
	now := p.cfg.Now()
	if within(last, now, rescueEvery) {
		return last
	}
	rescued, removed, err := p.cfg.Spool.Rescue(now)
	if rescued > 0 || removed > 0 || err != nil {
		p.logger.Info("looked after what hooks left unfinished", "rescued", rescued, "removed", removed, "err", err)
	}
	return now
}

// renewEvery is how often it is looked whether the spool's key is to be renewed.
const renewEvery = time.Hour

func (p *Pipeline) renewKeys(last time.Time) time.Time {
	now := p.cfg.Now()
	if within(last, now, renewEvery) {
		return last
	}
	deleted, err := p.cfg.Spool.RenewKeys(now)
	if err != nil {
		p.logger.Error("the spool's key cannot be renewed", "err", err)
	}
	if deleted > 0 {
		p.logger.Info("keys of the spool that nothing needs any more were deleted", "keys", deleted)
	}
	return now
}

// pass waits until Drain has gone once more through the whole spool. It returns ErrSpoolWaits where that is not done before ctx is,
// as where Drain has not begun or has ended, and where the pass had to stop.
func (p *Pipeline) pass(ctx context.Context) error {
	whole := make(chan bool, 1)
	select {
	case p.passes <- whole:
	case <-p.drainEnded:
		return ErrSpoolWaits
	case <-ctx.Done():
		return ErrSpoolWaits
	}
	select {
	case ok := <-whole:
		if ok {
			return nil
		}
	case <-ctx.Done():
	}
	return ErrSpoolWaits
}

// stuckFiles are the names of spool files that can be neither taken nor moved.
type stuckFiles struct {
	mu    sync.Mutex // guards names
	names map[string]bool
}

// add reports whether the name is new.
func (s *stuckFiles) add(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.names[name]
	s.names[name] = true
	return !known
}

// keep forgets what is not among the names.
func (s *stuckFiles) keep(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.names, func(name string, _ bool) bool { return !slices.Contains(names, name) })
}

// others returns how many of the names are not stuck.
func (s *stuckFiles) others(names []string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, name := range names {
		if !s.names[name] {
			n++
		}
	}
	return n
}

// drainOnce goes once through the spool, and stops where nothing is taken for now: then it reports false. A spool that cannot
// be read has nothing to wait for.
func (p *Pipeline) drainOnce(ctx context.Context) bool {
	names, err := p.spool.Names()
	if err != nil {
		p.logger.Error("the spool cannot be read", "err", err)
		return true
	}
	p.stuck.keep(names)
	run := &drainRun{p: p}
	for _, name := range names {
		if ctx.Err() != nil {
			return false
		}
		if p.deadLetters.has(name) {
			continue
		}
		if !run.add(ctx, name) {
			return false
		}
	}
	return run.flush(ctx)
}

// drainRun collects entries of one session that follow one another.
type drainRun struct {
	p       *Pipeline
	session events.SessionID
	entries []drained
	bytes   int
}

type drained struct {
	name     string
	size     int // of the body, in bytes
	accepted Accepted
}

// add takes the next entry, and reports false where the pass has to stop.
func (r *drainRun) add(ctx context.Context, name string) bool {
	e, err := r.p.readEntry(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return r.flush(ctx) && r.settle(name, err)
	}
	if len(e.accepted.Report.Captures) == 0 {
		return r.settle(name, nil)
	}
	if e.accepted.endsWork() {
		if !r.flush(ctx) {
			return false
		}
		if err := r.p.recordRemarks(ctx, &e.accepted); err != nil {
			return r.settle(name, err)
		}
	}
	id := e.accepted.Report.Origin.Session()
	if id != r.session || len(r.entries) >= drainBatch || r.bytes >= drainBytes {
		if !r.flush(ctx) {
			return false
		}
		r.session = id
	}
	r.entries = append(r.entries, e)
	r.bytes += e.size
	return true
}

// entries is what the drain needs of a spool. A *spool.Spool is one; see there for what the methods promise.
type entries interface {
	entryReader
	Remove(name string) error
	DeadLetter(name, reason string) error
}

type entryReader interface {
	Names() ([]string, error)
	Read(name string) (spool.Entry, error)
	Size(name string) int64
}

// errSpoolDisk is a spool file that cannot be read for now: the disk is to blame, not the file.
var errSpoolDisk = errors.New("capture: the spool cannot be read")

// readEntry reads and decodes one entry. Errors are errSpoolDisk, fs.ErrNotExist, and those of the entry itself.
func (p *Pipeline) readEntry(ctx context.Context, name string) (out drained, err error) {
	defer panics.Catch(&err, p.logger, "spool file")
	e, err := p.spool.Read(name)
	if err != nil && !errors.Is(err, spool.ErrBadEntry) {
		err = fmt.Errorf("%w: %w", errSpoolDisk, err)
	}
	if err != nil {
		return out, err
	}
	id, err := parseDelivery(e.Delivery)
	if err != nil {
		return out, err
	}
	if now := p.cfg.Now(); e.OccurredAt.After(now) || e.OccurredAt.Year() < firstOccurred {
		e.OccurredAt = now
	}
	out = drained{name: name, size: len(e.Body)}
	out.accepted, err = p.decode(ctx, delivery{e, id})
	return out, err
}

// flush appends what was collected, as one, and one by one if that is refused: a single bad entry must not take others
// with it. It reports false where the pass has to stop.
func (r *drainRun) flush(ctx context.Context) bool {
	entries := r.entries
	r.entries, r.bytes = nil, 0
	if len(entries) == 0 {
		return true
	}
	err := r.p.deliver(ctx, entries)
	if err != nil && transient.Is(err) {
		return r.settle(entries[0].name, err)
	}
	for _, e := range entries {
		own := err
		if err != nil && len(entries) > 1 {
			own = r.p.deliver(ctx, []drained{e})
		}
		if !r.settle(e.name, own) {
			return false
		}
	}
	return true
}

// deliver puts what entries of one session report to it. A panic is an error.
func (p *Pipeline) deliver(ctx context.Context, entries []drained) (err error) {
	defer panics.Catch(&err, p.logger, "drain")
	ctx, cancel := context.WithTimeout(ctx, AppendTimeout)
	defer cancel()
	all := entries[0].accepted.Report.Captures
	for _, e := range entries[1:] {
		all = append(all[:len(all):len(all)], e.accepted.Report.Captures...)
	}
	_, err = p.cfg.Sink.Do(ctx, all[0].Origin.Session(), commands(all)...)
	return err
}

// settle removes an entry that is on disk, or makes it a dead letter for err, or leaves it and reports false if err may pass.
// What the disk does to a single file stops nothing.
func (r *drainRun) settle(name string, err error) bool {
	switch {
	case err == nil:
		if err := r.p.spool.Remove(name); err != nil {
			r.stays(name, err)
			return true
		}
		r.p.Counts.Drained.Add(1)
	case errors.Is(err, errSpoolDisk) && !errors.Is(err, fs.ErrPermission):
		r.stays(name, err)
	case transient.Is(err):
		r.p.logger.Debug("the spool waits", "err", err)
		return false
	default:
		r.deadLetter(name, err)
	}
	return true
}

// deadLetter moves an entry that will never be taken. One that may not be read moves too: the folder is ours. Where the
// bad folder is full, what will never be taken is lost, and counted: left in the spool it would in the end keep out what
// can be taken.
func (r *drainRun) deadLetter(name string, cause error) {
	why := badReason(cause)
	if err := r.p.roomInBad(r.p.spool.Size(name)); err != nil {
		if !errors.Is(err, errBadFull) || errors.Is(cause, errSpoolDisk) {
			r.stays(name, errors.Join(cause, err))
			return
		}
		r.lose(name, why, err)
		return
	}
	if err := r.p.spool.DeadLetter(name, why); err != nil {
		r.stays(name, errors.Join(cause, err))
		return
	}
	r.p.Counts.DeadLetters.Add(1)
	r.p.logger.Warn("a spool file became a dead letter", "file", name, "err", why)
}

// lose deletes an entry that will never be taken, and for which there is no room elsewhere.
func (r *drainRun) lose(name, why string, full error) {
	if err := r.p.spool.Remove(name); err != nil {
		r.stays(name, err)
		return
	}
	r.p.Counts.Lost.Add(1)
	r.p.logger.Error("a spool file is lost", "file", name, "reason", why, "err", full)
}

// stays reports, once, a file that can be neither taken nor moved. Every pass tries it again.
func (r *drainRun) stays(name string, err error) {
	if r.p.stuck.add(name) {
		r.p.logger.Error("a spool file stays", "file", name, "err", err)
	}
}

// badReason says why a spool file is not taken.
func badReason(err error) string {
	switch {
	case errors.Is(err, spool.ErrBadEntry):
		return err.Error()
	case errors.Is(err, errSpoolDisk):
		return "it may not be read"
	}
	return refusal.Reason(err)
}
