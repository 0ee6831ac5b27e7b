package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/internal/transient"
)

// watch marks what the store tells of. What it fails to tell the rounds find by listing.
func (s *Share) watch(ctx context.Context) error {
	for wait := minRetryPause; ctx.Err() == nil; wait = min(2*wait, maxRetryPause) {
		for e, err := range s.store.Watch(ctx, s.keys.watchedPrefix()) {
			if err != nil {
				break
			}
			s.mark(e)
			wait = minRetryPause
		}
		sleep(ctx, wait, nil)
	}
	return nil
}

// rounds looks at what changed in the store, and does what follows from it, until ctx is done.
func (s *Share) rounds(ctx context.Context) error {
	r := &round{Share: s, reporter: reporter{Share: s}}
	for wait := minRetryPause; ctx.Err() == nil; {
		err := r.once(ctx)
		if ctx.Err() != nil {
			break
		}
		s.problems.set("store", err)
		switch {
		case err == nil && !r.left():
			wait = minRetryPause
			sleep(ctx, r.rest(), s.wake)
		case err != nil:
			s.cfg.Log.Warn("cannot read the store", "err", err)
			sleep(ctx, wait, nil)
			wait = min(2*wait, maxRetryPause)
		default:
			sleep(ctx, wait, s.wake)
			wait = min(2*wait, maxRetryPause)
		}
	}
	return nil
}

// round is what one Run remembers between its rounds.
type round struct {
	*Share
	listed   time.Time // when all was listed
	tended   time.Time
	settle   time.Time // when copies are to be settled again; zero: nothing waits
	manifest uint64    // as it was tended for
	compared compared  // what there was when notes were compared with copies

	reporter reporter
}

// once does one round. Its error is one of the store as a whole.
func (r *round) once(ctx context.Context) (err error) {
	all := r.cfg.Now().Sub(r.listed).Abs() >= r.cfg.Poll
	if all {
		if err := r.list(ctx); err != nil {
			return errors.Join(err, r.forgetNoted(ctx)) // what is to be forgotten here does not wait for a store
		}
	}
	if err := r.lookAtAll(ctx, func(rank int) bool { return rank <= forgetRank }); err != nil {
		return err
	}
	if err := r.forgetNoted(ctx); err != nil {
		return err
	}
	if all {
		r.settled()
	}
	if err := r.lookAtAll(ctx, func(rank int) bool { return rank > forgetRank }); err != nil {
		return err
	}
	if all {
		if err := r.compareNotes(); err != nil {
			return err
		}
		r.listed = r.cfg.Now()
	}
	if err := r.tend(ctx); err != nil {
		return err
	}
	if err := r.carryOut(ctx); err != nil {
		return err
	}
	if r.settle, err = r.cfg.Copies.Settle(ctx); err != nil {
		return err
	}
	return r.reporter.report(ctx)
}

// compared is how many notes there are, and how many records of all copies are shown.
type compared struct {
	notes int
	shown uint64
}

// compareNotes is forgetAlike, where either has changed since it was called last.
func (r *round) compareNotes() error {
	r.mu.Lock()
	there := compared{notes: len(r.notes)}
	r.mu.Unlock()
	for _, c := range r.cfg.Copies.Copies() {
		there.shown += uint64(c.Shown)
	}
	if there == r.compared {
		return nil
	}
	err := r.forgetAlike()
	if err == nil {
		r.compared = there
	}
	return err
}

// list marks all objects, and has notes sent again that are not among them.
func (s *Share) list(ctx context.Context) error {
	there := map[store.Key]bool{}
	for e, err := range store.All(ctx, s.store, s.keys.watchedPrefix(), "") {
		if err != nil {
			return err
		}
		there[e.Key] = true
		s.mark(e)
	}
	if err := s.missNotes(there); err != nil {
		return err
	}
	s.mark(store.Entry{Key: s.space.ID().ManifestKey()}) // also where the store has none any more
	return nil
}

// settled says that what others forgot is forgotten here.
func (s *Share) settled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.ready:
	default:
		close(s.ready)
	}
}

// lookAtAll looks at what is marked, of some ranks, in the order in which one leads to another: the machines, what is to be
// forgotten, what was read, the logs. What fails stays marked.
func (s *Share) lookAtAll(ctx context.Context, of func(rank int) bool) error {
	s.mu.Lock()
	marked := slices.SortedFunc(maps.Keys(s.dirty), func(a, b store.Key) int {
		return cmp.Or(cmp.Compare(s.rank(a), s.rank(b)), cmp.Compare(a, b))
	})
	s.mu.Unlock()
	for _, key := range marked {
		if !of(s.rank(key)) {
			continue
		}
		if err := s.handleKey(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// forgetRank is the rank of notes.
const forgetRank = 1

func (s *Share) rank(key store.Key) int {
	switch {
	case key == s.space.ID().ManifestKey():
		return 0
	case strings.HasPrefix(string(key), s.keys.notePrefix()):
		return forgetRank
	case strings.HasPrefix(string(key), s.keys.reportPrefix()):
		return 2
	}
	return 3
}

// handleKey looks at one object. It returns an error where the store did not answer: then nothing else will fare better.
func (s *Share) handleKey(ctx context.Context, key store.Key) error {
	s.mu.Lock()
	delete(s.dirty, key) // what changes meanwhile is marked again
	s.mu.Unlock()
	rev, err := s.handleObject(ctx, key)
	s.mu.Lock()
	if err == nil {
		s.handled[key] = rev
	} else {
		s.dirty[key] = true
	}
	s.mu.Unlock()
	s.problems.set(s.problemKey(key), err)
	if err != nil && transient.Is(err) && !errors.Is(err, space.ErrNoKey) {
		return err
	}
	return nil
}

// problemKey is the name under which a problem with an object is kept.
func (s *Share) problemKey(key store.Key) string {
	return strings.TrimPrefix(string(key), s.keys.watchedPrefix())
}

// handleObject reads an object and does what follows. The revision is of the state that was read.
func (s *Share) handleObject(ctx context.Context, key store.Key) (store.Rev, error) {
	if s.rank(key) == 0 {
		return "", s.refresh(ctx)
	}
	body, rev, err := s.store.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	name := s.problemKey(key)
	kind, name, _ := strings.Cut(name, "/")
	err = s.read(ctx, kind, name, body)
	if errors.Is(err, ErrStatement) { // of a machine that has just entered
		if refreshed := s.refresh(ctx); refreshed != nil {
			return "", refreshed
		}
		err = s.read(ctx, kind, name, body)
	}
	return rev, err
}

// stateProblemKey is the name under which an older state of the store is kept, for a day.
const stateProblemKey = "the store's state"

// Refresh takes the list of machines from the store, which is given this machine's where it has an older one or none; then Status says so.
// Errors are those of space.Refresh beside that.
func (s *Share) Refresh(ctx context.Context) error {
	err := s.refresh(ctx)
	if errors.Is(err, space.ErrRolledBack) || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// refresh takes the list of machines from the store. Where that is older than the one known here, so may be all else that is there.
func (s *Share) refresh(ctx context.Context) error {
	err := s.space.Refresh(ctx)
	if errors.Is(err, space.ErrRolledBack) || errors.Is(err, store.ErrNotFound) {
		s.reportRollback()
	}
	return err
}

// reportRollback says that the store has an older state than it had.
func (s *Share) reportRollback() {
	now := s.cfg.Now()
	s.problems.set(stateProblemKey, fmt.Errorf("on %s the store had an older state than before, or none, and was given what this machine knows; "+
		"if nobody restored or emptied it, do not trust it", now.Format(time.DateTime)))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rolledBackAt = now
}

// clearOldProblems lets go of what was said of an older state a day ago.
func (s *Share) clearOldProblems(now time.Time) {
	s.mu.Lock()
	old := now.Sub(s.rolledBackAt).Abs() > 24*time.Hour
	s.mu.Unlock()
	if old {
		s.problems.set(stateProblemKey, nil)
	}
}

func (s *Share) read(ctx context.Context, kind, name string, body []byte) error {
	switch kind {
	case "head":
		return s.readHead(ctx, name, body)
	case "forget":
		return s.readNote(name, body)
	case "seen":
		return s.readReport(ctx, name, body)
	}
	return nil // of a newer program
}

// left reports whether something is marked still.
func (s *Share) left() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.dirty) > 0
}

// rest is how long to wait where nothing happens.
func (r *round) rest() time.Duration {
	now := r.cfg.Now()
	next := r.listed.Add(r.cfg.Poll)
	if due := r.reporter.due(); due.Before(next) {
		next = due
	}
	if !r.settle.IsZero() && r.settle.Before(next) {
		next = r.settle
	}
	return max(next.Sub(now), minRetryPause)
}

// tend does what is owed to the space, once an hour and when it changed.
func (r *round) tend(ctx context.Context) error {
	m, now := r.space.Manifest(), r.cfg.Now()
	if m.Number == r.manifest && now.Sub(r.tended).Abs() < time.Hour {
		return nil
	}
	r.clearOldProblems(now)
	err := r.space.Tend(ctx, now)
	if err == nil {
		r.manifest, r.tended = m.Number, now
	}
	if err != nil && !transient.Is(err) || errors.Is(err, space.ErrNoKey) {
		return nil // Refresh says the same, and by which name
	}
	return err
}
