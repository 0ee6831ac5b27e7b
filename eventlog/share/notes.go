package share

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/transient"
)

// readNote takes a note of another machine.
func (s *Share) readNote(name string, body []byte) error {
	n, err := verify[note](s.space, body)
	if err != nil {
		return err
	}
	if n.ID.String() != name {
		return fmt.Errorf("%w: it is another note", ErrStatement)
	}
	s.mu.Lock()
	_, known := s.notes[n.ID]
	vouched := s.vouched(n.ID)
	s.mu.Unlock()
	if known {
		return nil
	}
	if m, _ := s.space.Manifest().Machine(n.Machine); !m.Current() && !vouched {
		return fmt.Errorf("%w: the machine that asks left or was revoked; forget it here", ErrStatement)
	}
	if !n.bounded() {
		return fmt.Errorf("%w: it names no record, or more than %d", ErrStatement, notePlaces)
	}
	return s.setNotes(map[noteID]noteState{n.ID: {Note: &n, Body: body, At: n.At, By: n.Machine.String(), Sent: true}})
}

// vouched reports whether a machine that is in the space did what a note asks: it read it while whoever asks was in the space. It needs mu.
func (s *Share) vouched(id noteID) bool {
	m := s.space.Manifest()
	for by, r := range s.reports {
		if d, ok := m.Machine(by); ok && d.Current() && slices.Contains(r.Done, id) {
			return true
		}
	}
	return false
}

// openNotes are the notes with which something is to be done still, the oldest first.
func (s *Share) openNotes() (ids []noteID, all map[noteID]noteState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all = maps.Clone(s.notes)
	for id, n := range all {
		if n.Note != nil {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b noteID) int { return strings.Compare(a.String(), b.String()) })
	return ids, all
}

// asked is all that anybody asked to forget, by the names of the logs in the store.
func (s *Share) asked() (map[events.Place]bool, error) {
	s.mu.Lock()
	all := s.notes
	s.mu.Unlock()
	asked := map[events.Place]bool{}
	for _, n := range all {
		if err := n.reopen(); err != nil { // a copy
			return nil, err
		}
		if n.Note == nil {
			continue
		}
		for _, p := range n.Note.places() {
			asked[p] = true
		}
	}
	return asked, nil
}

// forgetNoted has forgotten here what is to be forgotten, all of it at once: each time copies are written anew.
func (s *Share) forgetNoted(ctx context.Context) error {
	ids, all := s.openNotes()
	done := map[noteID]noteState{}
	var places []events.Place
	for _, id := range ids {
		if n := all[id]; !n.Done {
			places = append(places, n.Note.places()...)
			n.Done = true
			done[id] = n
		}
	}
	if len(done) == 0 {
		return nil
	}
	if err := s.repeatForgetting(ctx, places); err != nil {
		return err
	}
	if err := s.forgetLocal(ctx, places); err != nil {
		return fmt.Errorf("forget what was asked for: %w", err)
	}
	return s.setNotes(done)
}

// forgetLocal erases from copies and from the own log.
func (s *Share) forgetLocal(ctx context.Context, places []events.Place) error {
	last, err := s.cfg.Own.Last(ctx)
	if err != nil {
		return err
	}
	var all, foreign []events.Place
	for _, p := range places {
		if p.Log != s.ownLog() {
			foreign = append(foreign, s.localPlace(p))
		}
		if s.isOwn(p) {
			p = events.Place{Log: s.ownLog(), Position: p.Position}
		}
		if p.Log != s.ownLog() || p.Position <= last { // else it is of a log that this one was restored from
			all = append(all, s.localPlace(p))
		}
	}
	if len(foreign) > 0 {
		if err := s.cfg.Copies.Erase(ctx, foreign...); err != nil {
			return err
		}
		if err := s.cfg.Copies.Compact(ctx); err != nil {
			return err
		}
	}
	return s.cfg.Forget(ctx, all)
}

// carryOut tells the store what was forgotten, and sees to it that nothing of it is there.
func (s *Share) carryOut(ctx context.Context) error {
	if err := s.forgetNoted(ctx); err != nil {
		return err
	}
	ids, all := s.openNotes()
	for _, id := range ids {
		n := all[id]
		if !n.Done { // it was asked for just now, and is done first
			signal(s.wake)
			continue
		}
		if err := s.sendNote(ctx, &n); err != nil {
			return err
		}
		err := s.clean(ctx, *n.Note)
		s.problems.set("forget/"+id.String(), err)
		if errors.Is(err, errNotShipped) || err != nil && !transient.Is(err) {
			continue // the others do not wait for it; the next round tries again
		}
		if err != nil {
			return err
		}
		n.Cleaned, n.Note = true, nil
		if err := s.setNotes(map[noteID]noteState{id: n}); err != nil {
			return err
		}
	}
	return nil
}

// missNotes has notes sent again, whoever asked, that a list of the store has not: it was emptied, or is an older one. Then what they name
// may be in it again too.
func (s *Share) missNotes(there map[store.Key]bool) error {
	missing := map[noteID]noteState{}
	s.mu.Lock()
	all := s.notes
	s.mu.Unlock()
	for id, n := range all {
		if !n.Sent || len(n.Body) < ed25519.SignatureSize || there[s.keys.note(id)] {
			continue
		}
		if err := n.reopen(); err != nil {
			return err
		}
		n.Sent = false
		missing[id] = n
	}
	if len(missing) == 0 {
		return nil
	}
	return s.setNotes(missing)
}

// reopen has something to be done with a note again.
func (n *noteState) reopen() error {
	n.Cleaned = false
	if n.Note != nil || len(n.Body) < ed25519.SignatureSize {
		return nil
	}
	n.Note = &note{}
	if err := json.Unmarshal(n.Body[ed25519.SignatureSize:], n.Note); err != nil {
		return fmt.Errorf("share: a request to forget that was kept: %w", err)
	}
	return nil
}

// sendNote puts a note into the store, where it is not there.
func (s *Share) sendNote(ctx context.Context, n *noteState) error {
	if n.Sent {
		return nil
	}
	if n.Body == nil {
		signed := *n.Note
		signed.Machine = s.space.Self() // a home that was copied was another machine as it asked
		body, err := sign(s.space, signed)
		if err != nil {
			return err
		}
		n.Note, n.Body = &signed, body
	}
	if _, err := s.store.Create(ctx, s.keys.note(n.Note.ID), n.Body); err != nil && !errors.Is(err, store.ErrExists) {
		return err
	}
	n.Sent = true
	return s.setNotes(map[noteID]noteState{n.Note.ID: *n})
}
