package share

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/events"
)

// A log is called by what its first record says. Where a home was copied, restored from an older backup or salvaged, two logs have that
// name, which differ from some record on. Nobody can tell which one is right, and nobody needs to: the home that comes second to the store
// gives its log another name, a random one, and sends all of it by that. What both logs have, records of one id at one position,
// union.Union shows once, so nothing is there twice, and nothing is lost. On this machine the own log keeps its first name, which its views
// remember; the other home's, which has that name in the store, has another one here (see Here and there).
//
// A home that was copied has the machine's key too. Then it enters the space as another machine (space.Renew): else one home would confirm
// what the other did not forget. A home whose own notes say that its log was exchanged is the machine that it was, and stays it.
//
// In the order branch does it nothing is lost where the power goes: another key first (a home with it and the log's first name is found to
// be forked again), then the name, then what was known of the log by its old one.

// ErrForked is two machines that write one log: a home was copied, or restored from a backup.
var ErrForked = errors.New("share: two homes write one log")

// ErrRenewed is returned by Run once this home has a log, and perhaps a key, of its own: the space and the share must be opened again.
var ErrRenewed = errors.New("share: the home goes on as another one")

// ForkedError says since when.
type ForkedError struct {
	Log events.LogID
	At  events.Position // the first record that may differ

	copied    bool // another home has this machine's key
	exchanged bool // another log is in the place of the one that was shipped
	read      bool // it was found by what another machine read, which the store may not have any more
}

func (e *ForkedError) Error() string {
	if e.exchanged {
		return "this home's log is not the one that it sent before: it was restored from a backup, or salvaged; " +
			"it goes on as a log of its own once the store answers"
	}
	return fmt.Sprintf("another home writes this home's log too, from record %d on: it was copied, or restored from a backup; "+
		"this one goes on as a log of its own once the store answers", e.At)
}

// Is makes errors.Is(err, ErrForked) true.
func (e *ForkedError) Is(target error) bool { return target == ErrForked }

// identity is the file of that name: what the own log is called in the store.
type identity struct {
	Format  int             `json:"format"`
	Of      events.LogID    `json:"of"` // the log, by its first record: of another one this says nothing
	Log     events.LogID    `json:"log"`
	Former  []former        `json:"former"` // what it was called before
	At      time.Time       `json:"at"`     // when it was called so last
	From    events.Position `json:"from"`   // the first record that no log of a former name has
	Machine space.MemberID  `json:"machine,omitzero"`
}

// former is a name that the own log had, and still has in the store up to Last, in another home's hands.
type former struct {
	Log  events.LogID    `json:"log"`
	Last events.Position `json:"last"`
}

// nameOf is what the log is called in the store whose first record says root.
func (i identity) nameOf(root events.LogID) events.LogID {
	if i.Of != root || root.IsZero() {
		return root
	}
	return i.Log
}

// renamed is nameOf where that is not the log's first name, else zero.
func (i identity) renamed(root events.LogID) (name events.LogID) {
	if n := i.nameOf(root); n != root {
		name = n
	}
	return name
}

// identify reads what the own log is called, once it has a record.
func (s *Share) identify(ctx context.Context) error {
	if !s.ownLog().IsZero() {
		return nil
	}
	root, err := eventlog.ID(ctx, s.cfg.Own)
	if err != nil || root.IsZero() {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.root, s.own = root, s.identity.nameOf(root)
	signal(s.wake)
	return nil
}

// otherHome is what a log is called here that has the own log's first name in the store.
func otherHome(root events.LogID) events.LogID {
	sum := sha256.Sum256(append([]byte("cmemd log of another home\x00"), root[:]...))
	return events.LogID(sum[:len(root)])
}

// LocalLog is what a log of the store is called on this machine, where Copies has it; storeLog is the reverse.
func (s *Share) LocalLog(log events.LogID) events.LogID {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case log == s.own:
		return s.root
	case log == s.root:
		return otherHome(s.root)
	}
	return log
}

func (s *Share) storeLog(log events.LogID) events.LogID {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case log.IsZero() || log == s.root:
		return s.own
	case s.own != s.root && log == otherHome(s.root):
		return s.root
	}
	return log
}

func (s *Share) localPlace(p events.Place) events.Place {
	return events.Place{Log: s.LocalLog(p.Log), Position: p.Position}
}

// everywhere returns where the logs of the store have the records that are at some places here.
func (s *Share) everywhere(at []events.Place) (all []events.Place) {
	own, names := s.ownLog(), s.formerNames()
	for _, p := range at {
		for _, q := range append(s.cfg.Copies.Same(p), p) {
			q.Log = s.storeLog(q.Log)
			all = append(all, q)
			for _, f := range names {
				if q.Log == own && q.Position <= f.Last {
					all = append(all, events.Place{Log: f.Log, Position: q.Position})
				}
			}
		}
	}
	return all
}

func (s *Share) formerNames() []former {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.identity.Of != s.root {
		return nil
	}
	return s.identity.Former
}

// isOwn reports whether the own log has the record that is at a place of the store, by whatever name.
func (s *Share) isOwn(p events.Place) bool {
	return p.Log == s.ownLog() ||
		slices.ContainsFunc(s.formerNames(), func(f former) bool { return f.Log == p.Log && p.Position <= f.Last }) ||
		slices.ContainsFunc(s.cfg.Copies.Same(s.localPlace(p)), func(q events.Place) bool { return q.Log.IsZero() })
}

// repeatForgetting asks all to forget, by the name that the own log has now, what they were asked to forget by another name: who asked
// may not have known the present one.
func (s *Share) repeatForgetting(ctx context.Context, places []events.Place) error {
	var again []events.Place
	for _, p := range places {
		if p.Log == s.ownLog() || !s.isOwn(p) {
			continue
		}
		r, err := s.cfg.Own.Get(ctx, p.Position)
		if errors.Is(err, eventlog.ErrNotFound) || err == nil && r.Erased { // all know
			continue
		}
		if err != nil {
			return err
		}
		again = append(again, events.Place{Log: s.ownLog(), Position: p.Position})
	}
	_, err := s.addNotes(again)
	return err
}

// forgetAlike asks all to forget, by every name that is known here by now, what they were asked to forget by another one. Who asked may
// not have known that another log has the same record. Whose log that is may not know so either, where the store was restored as the
// log was.
func (s *Share) forgetAlike() error {
	asked, err := s.asked()
	if err != nil {
		return err
	}
	var again []events.Place
	for p := range asked {
		for _, q := range s.cfg.Copies.Same(s.localPlace(p)) {
			if q.Log = s.storeLog(q.Log); !asked[q] {
				again = append(again, q)
			}
		}
	}
	_, err = s.addNotes(again)
	return err
}

// doubt has the shipper look at what is said against the own log.
func (s *Share) doubt(why *ForkedError) {
	select {
	case s.doubts <- why:
	default: // it is about to look
	}
}

// compareHead looks whether the own log's head is another home's, which has other records.
func (s *Share) compareHead(h head) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.feeds[s.own]; s.life > 0 && h.Life > s.life && (h.Last != f.Last || h.Link != f.Link) {
		s.doubt(nil)
	}
}

// compare looks whether what a machine read of the own log is what is here: a store that was restored, as this home was, does not know it.
// What is the same is not looked at again.
func (s *Share) compare(ctx context.Context, by space.MemberID, c feedReport) error {
	s.mu.Lock()
	sure, begun := s.sure[by], s.life > 0
	if sure.Last < s.began.Last {
		sure = s.began
	}
	s.mu.Unlock()
	if !begun || c.Link.IsZero() || c.Last <= sure.Last {
		return nil
	}
	link, err := linkAt(ctx, s.cfg.Own, sure, c.Last)
	if errors.Is(err, eventlog.ErrNotFound) || err == nil && link != c.Link {
		s.doubt(&ForkedError{Log: s.ownLog(), At: sure.Last + 1, copied: true, read: true})
		return nil
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sure[by] = feed{Last: c.Last, Link: link}
	return nil
}

// fork keeps that the own log is forked, and wakes who waits for shipping.
func (s *Share) fork(err *ForkedError) {
	s.cfg.Log.Error("the log is forked", "err", err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forked = err
	s.announce()
}

// branch gives the own log a name of its own, and the home a key of its own where it was copied. Where it returns nil this Share is not to
// be used any more.
func (s *Share) branch(ctx context.Context, forked *ForkedError) error {
	common, err := s.lastCommon(ctx)
	if err != nil {
		return err
	}
	if forked.read {
		common = min(common, forked.At-1)
	}
	next := s.nextIdentity(common)
	if forked.copied {
		next.Machine = s.space.Self()
		if err := s.space.Renew(ctx, s.cfg.Now()); err != nil {
			return err
		}
	}
	next.At = s.cfg.Now().UTC()
	if err := saveIdentity(s.cfg.Dir, next); err != nil && !forked.copied {
		return err
	} // else the log is found to be of the machine that this home was, and is given its name then
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renewed = true
	return nil
}

// nextIdentity is another name for the own log, which has the records up to common with the log that has its name now.
func (s *Share) nextIdentity(common events.Position) identity {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := identity{Of: s.root, From: common + 1, Former: []former{{s.own, common}}}
	for _, f := range s.identity.Former {
		if s.identity.Of == s.root {
			next.Former = append(next.Former, former{f.Log, min(f.Last, common)})
		}
	}
	rand.Read(next.Log[:]) // never fails
	return next
}

func (s *Share) isRenewed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.renewed
}

// lastCommon is up to which record the store's log of the own one's name is the own one. What cannot be read there ends it.
func (s *Share) lastCommon(ctx context.Context) (at events.Position, err error) {
	last, err := s.cfg.Own.Last(ctx)
	for err == nil && at < last {
		p, err := s.covering(ctx, s.ownLog(), at+1)
		if errors.Is(err, errMissing) {
			return at, nil
		}
		if err != nil {
			return at, err
		}
		sealed, records, err := s.segmentAt(ctx, s.ownLog(), p)
		if isBad(err) || err == nil && sealed.Last() <= at {
			return at, nil
		}
		if err != nil {
			return at, err
		}
		for _, theirs := range records[at+1-sealed.First:] {
			ours, err := s.cfg.Own.Get(ctx, theirs.Position)
			if errors.Is(err, eventlog.ErrNotFound) || err == nil && ours.ID != theirs.ID {
				return at, nil
			}
			if err != nil {
				return at, err
			}
			at = theirs.Position
		}
	}
	return at, err
}

// branchStatus is what Status says of it. It needs mu.
func (s *Share) branchStatus() *Branch {
	i := s.identity
	if i.Log.IsZero() || i.Log != s.own {
		return nil
	}
	b := &Branch{At: i.At, From: i.From}
	if was, ok := s.space.Manifest().Machine(i.Machine); ok {
		b.Machine = was.Name
		seen := s.reports[was.ID].At
		for _, h := range s.heads {
			if h.Machine == was.ID {
				seen = slices.MaxFunc([]time.Time{seen, h.At}, time.Time.Compare)
			}
		}
		b.Absent = was.Current() && !seen.After(i.At.Add(time.Minute)) // this home may have reported in its name until then
	}
	return b
}
