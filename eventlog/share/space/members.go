package space

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cmemd/cmemd/eventlog/share/store"
)

// Errors of entering a space and of changing it.
var (
	// ErrMember is returned by Create and Enter where this machine is in a space already.
	ErrMember = errors.New("space: this machine is in a space already; leave it first")
	// ErrNoSpace is returned by Enter where the store does not hold the code's space.
	ErrNoSpace = errors.New("space: the store does not hold the space that the code is for")
	// ErrUsed is returned by Enter for an invitation by which another machine entered.
	ErrUsed = errors.New("space: the invitation was used already; make another one for this machine")
	// ErrExpired is returned by Enter for an invitation whose day is over.
	ErrExpired = errors.New("space: the invitation has expired; make another one, and look at this machine's clock")
	// ErrNoMachine is returned by Revoke for an id of no other machine in the space.
	ErrNoMachine = errors.New("space: no other machine in the space has that id")
	// ErrFull is returned by Invite and Enter where the manifest, which keeps all changes, has no room for another one.
	ErrFull = errors.New("space: too many machines came and went for one space; make a new one (machines can still leave and be revoked)")
)

// reservedBytes is the room that is kept for what must always be possible: that 200 machines are revoked or leave, at 500 bytes
// each, and what is open then is withdrawn.
const reservedBytes = 128 << 10

// maxAttempts is how often a change is tried anew because another machine's came first.
const maxAttempts = 8

// Create makes a space in the store with this machine, whose folder dir is, as its first one. The recovery code is nowhere else: it
// must be shown, once. It returns ErrMember, or what the store returned; then there is no space.
func Create(ctx context.Context, dir string, s store.Store, name string, now time.Time) (*Space, Code, error) {
	keys, err := newcomer(dir)
	if err != nil {
		return nil, Code{}, err
	}
	code := newCode(Recovery, ID{}, "")
	recovery, err := code.keys()
	if err != nil {
		return nil, Code{}, err
	}
	var key EpochKey
	nonce := make([]byte, 16)
	rand.Read(key[:])
	rand.Read(nonce)
	public, back := keys.Public(), recovery.Public()
	sealed, err := sealName(name, map[uint32]EpochKey{1: key}, public)
	if err != nil {
		return nil, Code{}, err
	}
	e, err := newEntry(change{
		Number: 1, At: stamp(now), By: keys.ID(), Kind: created, Member: &public, Name: sealed, Recovery: &back,
		Epoch: 1, Commitment: commitment(1, key), Nonce: nonce,
	}, keys)
	if err != nil {
		return nil, Code{}, err
	}
	m, err := Manifest{}.with(e)
	if err != nil {
		return nil, Code{}, err
	}
	k := localState{ID: m.ID, Manifest: appendEntries(nil, e), Keys: map[uint32]EpochKey{1: key}}
	sp := newSpace(dir, s, keys, k, m)
	if _, err := sp.store.Create(ctx, m.ID.ManifestKey(), k.Manifest); err != nil {
		return nil, Code{}, fmt.Errorf("space: make one: %w", err)
	}
	if err := sp.Tend(ctx, now); err != nil {
		return nil, Code{}, fmt.Errorf("space: make one: %w", err)
	}
	code.Space = m.ID
	return sp, code, sp.keep(k, m)
}

// newcomer returns the keys of a machine that is in no space.
func newcomer(dir string) (*Keys, error) {
	k, err := readLocalState(dir)
	if err != nil && !errors.Is(err, ErrNone) {
		return nil, err
	}
	keys, keyErr := DeviceKeys(dir)
	if err != nil || keyErr != nil {
		return keys, keyErr
	}
	m, err := fold(k.Manifest, k.ID)
	if d, ok := m.Machine(keys.ID()); err != nil || ok && d.Current() {
		return nil, cmp.Or(err, ErrMember)
	}
	return keys, nil
}

// stamp is a time as changes tell it.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// Enter lets this machine, whose folder dir is, into the code's space; no other machine has to be awake. Called again after an error
// it goes on. Where name is empty the machine is called as its invitation says, and where that does not say it by host. It returns
// ErrMember, ErrNoSpace, ErrUsed, ErrExpired, ErrRevoked, ErrNoKey, or what Refresh does.
func Enter(ctx context.Context, dir string, s store.Store, code Code, name, host string, now time.Time) (*Space, error) {
	keys, err := newcomer(dir)
	if err != nil {
		return nil, err
	}
	door, err := code.keys()
	if err != nil {
		return nil, err
	}
	e := entering{Space: newSpace(dir, s, keys, localState{ID: code.Space}, Manifest{}), door: door, name: name, host: host, now: now}
	if err := e.enter(ctx); err != nil {
		return nil, fmt.Errorf("enter a space: %w", err)
	}
	return e.Space, nil
}

// entering is a machine on its way into a space.
type entering struct {
	*Space
	door *Keys  // the invitation's, or the recovery code's
	name string // what the person calls the machine; may be empty
	host string
	now  time.Time
}

func (e entering) enter(ctx context.Context) error {
	body, _, err := e.store.Get(ctx, e.ID().ManifestKey())
	if errors.Is(err, store.ErrNotFound) {
		return ErrNoSpace
	}
	if err != nil {
		return err
	}
	m, err := fold(body, e.ID())
	if err != nil {
		return err
	}
	if err := e.admitted(m); err != nil {
		return err
	}
	for epoch := uint32(1); epoch <= m.Epoch; epoch++ {
		key, err := e.ID().take(ctx, e.store, epoch, m.commitments[epoch], e.door, e.keys)
		if errors.Is(err, ErrNoKey) && epoch < m.Epoch {
			continue // whoever has it lays it for machines, and Refresh takes it
		}
		if err != nil {
			return err
		}
		e.local.Keys[epoch] = key
	}
	e.local.Manifest, e.manifest = body, m
	if err := e.layAll(ctx, m, e.keys.Public(), nil); err != nil { // before the code is used, and its keys are taken away
		return err
	}
	if err := e.change(ctx, e.step); err != nil {
		return err
	}
	if err := e.keep(e.local, e.manifest); err != nil {
		return err
	}
	return e.Tend(ctx, e.now)
}

// admitted says why the door is shut, if it is.
func (e entering) admitted(m Manifest) error {
	if d, ok := m.Machine(e.Self()); ok {
		if d.Revoked {
			return ErrRevoked
		}
		if d.Current() {
			return nil
		}
	}
	id := e.door.ID()
	if id == m.recovery.ID() {
		return nil
	}
	i, ok := m.invitations[id]
	switch {
	case !ok:
		return fmt.Errorf("%w: the space does not know the invitation", ErrExpired)
	case i.used:
		return ErrUsed
	case i.gone, e.now.After(i.expires):
		return ErrExpired
	}
	return nil
}

// step is the change by which the machine enters; none where it is in the space already.
func (e entering) step(m Manifest) (change, *Keys, error) {
	if err := e.admitted(m); err != nil {
		return change{}, nil, err
	}
	if d, ok := m.Machine(e.Self()); ok && d.Current() {
		return change{}, nil, nil
	}
	public := e.keys.Public()
	i := m.invitations[e.door.ID()]
	name := cmp.Or(e.name, openName(i.sealed, e.local.Keys, e.door.Public()), e.host)
	sealed, err := sealName(m.named(e.local.Keys).free(name, e.Self()), e.local.Keys, public)
	return change{At: e.now, Kind: entered, Member: &public, Name: sealed}, e.door, err
}

// Invite returns a code that lets one machine in within InvitationLife. name, which may be empty, is what it is called unless it says
// otherwise; address, at most 512 bytes, is how it finds the store.
func (s *Space) Invite(ctx context.Context, name, address string, now time.Time) (Code, error) {
	if len(address) > maxAddressBytes {
		return Code{}, fmt.Errorf("space: the store's address has %d bytes, at most %d may be", len(address), maxAddressBytes)
	}
	code := newCode(Invitation, s.ID(), address)
	door, err := code.keys()
	if err != nil {
		return Code{}, err
	}
	public := door.Public()
	s.mu.Lock()
	sealed, err := sealName(name, s.local.Keys, public)
	s.mu.Unlock()
	if err != nil {
		return Code{}, err
	}
	err = s.change(ctx, func(Manifest) (change, *Keys, error) {
		return change{
			At: now, Kind: invited, Member: &Public{Sign: public.Sign}, Who: door.ID(), Name: sealed, Expires: stamp(now.Add(InvitationLife)),
		}, s.keys, nil
	})
	if err != nil {
		return Code{}, err
	}
	if _, err := s.store.Create(ctx, s.id.doorKey(door.ID()), public.Seal); err != nil {
		return Code{}, err
	}
	return code, s.layAll(ctx, s.Manifest(), public, nil)
}

func (s *Space) withdraw(ctx context.Context, id MemberID, now time.Time) error {
	return s.change(ctx, func(m Manifest) (change, *Keys, error) {
		if !slices.Contains(m.expired(now), id) {
			return change{}, nil, nil
		}
		return change{At: now, Kind: withdrawn, Who: id}, s.keys, nil
	})
}

// Revoke takes a machine out of the space and begins an epoch, whose key it does not get. feeds say how far its logs are to be
// believed: as far as they were read. Invitations that are open end, because that machine may know one. It returns ErrNoMachine.
func (s *Space) Revoke(ctx context.Context, id MemberID, feeds []Feed, now time.Time) error {
	key, err := s.newEpochKey(ctx)
	if err != nil {
		return err
	}
	err = s.change(ctx, func(m Manifest) (change, *Keys, error) {
		if d, ok := m.Machine(id); !ok || !d.Current() || id == s.Self() {
			return change{}, nil, fmt.Errorf("%w: %s", ErrNoMachine, id)
		}
		epoch := m.Epoch + 1
		for _, h := range m.members(id) { // before the epoch begins: where the power goes behind that its key is there
			if err := s.id.storeKey(ctx, s.store, epoch, key, h); err != nil {
				return change{}, nil, err
			}
		}
		return change{At: now, Kind: revoked, Who: id, Feeds: feeds, Epoch: epoch, Commitment: commitment(epoch, key)}, s.keys, nil
	})
	if err != nil {
		return err
	}
	return s.Tend(ctx, now)
}

// newEpochKey returns a key that is on disk, so that it is not lost where the power goes once an epoch began with it.
func (s *Space) newEpochKey(ctx context.Context) (key EpochKey, err error) {
	if err := s.manifestLock.Acquire(ctx, 1); err != nil {
		return key, err
	}
	defer s.manifestLock.Release(1)
	rand.Read(key[:])
	s.mu.Lock()
	k, m := s.local, s.manifest
	s.mu.Unlock()
	k.Pending = append(slices.Clone(k.Pending), key)
	return key, s.keep(k, m)
}

// Leave takes this machine out of the space. What it wrote stays with the others; Forget removes what it knows of the space. Where sent
// says how far its logs are in the store, nothing is believed later that somebody signs with its key.
func (s *Space) Leave(ctx context.Context, now time.Time, sent ...Feed) error {
	return s.change(ctx, func(m Manifest) (change, *Keys, error) {
		if d, ok := m.Machine(s.Self()); !ok || !d.Current() {
			return change{}, nil, nil
		}
		return change{At: now, Kind: left, Feeds: sent}, s.keys, nil
	})
}

// change adds the change that next makes of the manifest, signed with the keys that it returns; none where it returns no keys. Where
// another machine's change came first next is asked again. An error of the store's leaves open whether it was made.
func (s *Space) change(ctx context.Context, next func(Manifest) (change, *Keys, error)) error {
	if err := s.manifestLock.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.manifestLock.Release(1)
	for range maxAttempts {
		body, rev, err := s.read(ctx)
		if err != nil {
			return err
		}
		m := s.Manifest()
		c, by, err := next(m)
		if err != nil || by == nil {
			return err
		}
		if d, ok := m.Machine(s.Self()); by == s.keys && !(ok && d.Current()) {
			return ErrRevoked
		}
		c.Number, c.Previous, c.By, c.At = m.Number+1, m.Hash, by.ID(), stamp(c.At)
		if err = s.put(ctx, m, body, rev, c, by); !errors.Is(err, store.ErrMoved) {
			return err
		}
	}
	return fmt.Errorf("space: change the list of machines: other machines are changing it: %w", store.ErrMoved)
}

// put replaces the manifest by one with c added. It returns ErrMoved where another change came first.
func (s *Space) put(ctx context.Context, m Manifest, body []byte, rev store.Rev, c change, by *Keys) error {
	e, err := newEntry(c, by)
	if err != nil {
		return err
	}
	if _, err := m.with(e); err != nil {
		return err
	}
	after, room := appendEntries(slices.Clone(body), e), store.MaxBody
	if c.Kind == invited || c.Kind == entered {
		room -= reservedBytes
	}
	if len(after) > room {
		return ErrFull
	}
	if _, err = s.store.Replace(ctx, s.ID().ManifestKey(), rev, after); err == nil {
		return s.accept(ctx, after)
	}
	if now, _, got := s.store.Get(ctx, s.ID().ManifestKey()); got == nil && continues(after, now) == nil {
		return s.accept(ctx, now) // it was made, and the answer was lost
	}
	return fmt.Errorf("space: change the list of machines: %w", err)
}
