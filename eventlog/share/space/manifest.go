package space

import (
	"cmp"
	"crypto/ed25519"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
)

// InvitationLife is how long an invitation lets a machine in.
const InvitationLife = 24 * time.Hour

// Machine is a member that writes a log.
type Machine struct {
	ID      MemberID
	Name    string
	Public  Public
	Gone    time.Time // when it left or was revoked; zero while it is in the space
	Revoked bool
	Feeds   []Feed // of a machine that is gone: as far as its logs are to be believed

	sealed []byte // its name, as the change has it
	number uint64 // of the change by which it entered
}

// Current reports whether the machine is in the space.
func (m Machine) Current() bool { return m.Gone.IsZero() }

type invitation struct {
	sign    []byte // verifies what whoever has the code signs
	sealed  []byte // what the machine is to be called
	expires time.Time
	used    bool
	gone    bool // withdrawn
}

// Manifest is what the changes of a space come to. It is not changed once it is made.
type Manifest struct {
	ID     ID
	Number uint64      // of the last change
	Hash   events.Hash // of the last change
	Epoch  uint32      // that segments are sealed for now, from 1

	machines    map[MemberID]Machine
	invitations map[MemberID]invitation
	recovery    Public
	commitments map[uint32][]byte
}

// Machines returns all machines that ever were in the space, in the order in which they entered.
func (m Manifest) Machines() []Machine {
	return slices.SortedFunc(maps.Values(m.machines), func(a, b Machine) int { return cmp.Compare(a.number, b.number) })
}

// Machine returns the machine with that id.
func (m Manifest) Machine(id MemberID) (Machine, bool) {
	d, ok := m.machines[id]
	return d, ok
}

// Accepts reports whether what a machine signed of its log is to be believed up to a position: all of it while it
// is in the space; then what those who revoked it had read, or what it had sent as it left.
func (m Manifest) Accepts(id MemberID, log events.LogID, last events.Position) bool {
	d, ok := m.machines[id]
	if !ok {
		return false
	}
	if d.Current() || !d.Revoked && len(d.Feeds) == 0 {
		return true
	}
	return slices.ContainsFunc(d.Feeds, func(f Feed) bool { return f.Log == log && last <= f.Last })
}

// members are those to whom the keys of all epochs are due for good: the recovery code and the machines, but for one.
func (m Manifest) members(but MemberID) []Public {
	all := []Public{m.recovery}
	for _, d := range m.Machines() {
		if d.Current() && d.ID != but {
			all = append(all, d.Public)
		}
	}
	return all
}

// isOpen reports whether an invitation lets a machine in.
func (i invitation) isOpen(now time.Time) bool { return !i.used && !i.gone && now.Before(i.expires) }

// expired are the invitations that nobody used in time.
func (m Manifest) expired(now time.Time) (ids []MemberID) {
	for id, i := range m.invitations {
		if !i.used && !i.gone && now.After(i.expires) {
			ids = append(ids, id)
		}
	}
	return ids
}

// shut are the ids of the invitations that let nobody in any more.
func (m Manifest) shut() map[string]bool {
	ids := map[string]bool{}
	for id, i := range m.invitations {
		ids[id.String()] = i.used || i.gone
	}
	return ids
}

// with returns what the manifest is after one more change.
func (m Manifest) with(e entry) (Manifest, error) {
	c, err := e.change()
	if err != nil {
		return m, err
	}
	refuse := func(why string) (Manifest, error) {
		return m, fmt.Errorf("%w: change %d (%s): %s", ErrManifest, m.Number+1, c.Kind, why)
	}
	if !c.Kind.known() {
		return m, fmt.Errorf("%w (change %q)", ErrNewer, c.Kind)
	}
	if c.Number != m.Number+1 || c.Previous != m.Hash || c.At.IsZero() {
		return refuse("it does not follow the one before")
	}
	signer, ok := m.signer(c)
	if !ok {
		return refuse("its signer may not make it")
	}
	if !signer.verify(changeDomain, e.text, e.signature) {
		return refuse("it is not signed by whom it names")
	}
	next := m.clone()
	next.Number, next.Hash = c.Number, e.hash()
	if why := next.apply(c, e); why != "" {
		return refuse(why)
	}
	return next, nil
}

func (m Manifest) clone() Manifest {
	m.machines, m.invitations, m.commitments = maps.Clone(m.machines), maps.Clone(m.invitations), maps.Clone(m.commitments)
	return m
}

// signer is the public half of who signed c, if that member may make such a change.
func (m Manifest) signer(c change) (Public, bool) {
	switch c.Kind {
	case created:
		if c.Member == nil || c.By != c.Member.ID() {
			return Public{}, false
		}
		return *c.Member, m.Number == 0
	case entered:
		if m.Number > 0 && c.By == m.recovery.ID() {
			return m.recovery, true
		}
		i, ok := m.invitations[c.By]
		return Public{Sign: i.sign}, ok && !i.used && !i.gone && !c.At.After(i.expires)
	}
	d, ok := m.machines[c.By]
	return d.Public, ok && d.Current()
}

// apply changes m, which is its caller's alone, and says why it may not.
func (m *Manifest) apply(c change, e entry) (why string) {
	if len(c.Name) > maxSealed {
		return "the name is too long"
	}
	switch c.Kind {
	case created:
		return m.create(c, e)
	case invited:
		return m.invite(c)
	case entered:
		return m.enter(c)
	case withdrawn:
		i, ok := m.invitations[c.Who]
		if !ok || i.used || i.gone {
			return "there is no such invitation"
		}
		i.gone = true
		m.invitations[c.Who] = i
	case revoked:
		return m.revoke(c)
	case left:
		d := m.machines[c.By]
		d.Gone, d.Feeds = c.At, c.Feeds
		m.machines[c.By] = d
	}
	return ""
}

func (m *Manifest) create(c change, e entry) (why string) {
	if c.Recovery == nil || c.Member.check() != nil || c.Recovery.check() != nil {
		return "a key is missing"
	}
	hash := e.hash()
	copy(m.ID[:], hash[:])
	m.machines, m.invitations = map[MemberID]Machine{}, map[MemberID]invitation{}
	m.commitments, m.recovery = map[uint32][]byte{}, *c.Recovery
	m.add(c)
	return m.beginEpoch(c)
}

func (m *Manifest) invite(c change) (why string) {
	if c.Member == nil || len(c.Member.Sign) != ed25519.PublicKeySize || len(c.Member.Seal) > 0 {
		return "a key is missing, or too much"
	}
	_, invited := m.invitations[c.Who]
	_, entered := m.machines[c.Who]
	if invited || entered || c.Who == (MemberID{}) || c.Who == m.recovery.ID() || c.Expires.After(c.At.Add(InvitationLife)) {
		return "it was made before, is not named, or lasts too long"
	}
	m.invitations[c.Who] = invitation{sign: c.Member.Sign, sealed: c.Name, expires: c.Expires}
	return ""
}

func (m *Manifest) enter(c change) (why string) {
	if c.Member == nil || c.Member.check() != nil {
		return "a key is missing"
	}
	if d, ok := m.machines[c.Member.ID()]; ok && d.Revoked {
		return "the machine was revoked"
	}
	if i, ok := m.invitations[c.By]; ok {
		i.used = true
		m.invitations[c.By] = i
	}
	m.add(c)
	return ""
}

func (m *Manifest) add(c change) {
	id := c.Member.ID()
	m.machines[id] = Machine{ID: id, Public: *c.Member, sealed: c.Name, number: c.Number}
}

func (m *Manifest) revoke(c change) (why string) {
	d, ok := m.machines[c.Who]
	if !ok || !d.Current() || c.Who == c.By {
		return "no other machine in the space has that id"
	}
	d.Gone, d.Revoked, d.Feeds = c.At, true, c.Feeds
	m.machines[c.Who] = d
	for id, i := range m.invitations { // that machine may know their codes
		i.gone = i.gone || !i.used
		m.invitations[id] = i
	}
	return m.beginEpoch(c)
}

// beginEpoch begins an epoch.
func (m *Manifest) beginEpoch(c change) (why string) {
	if c.Epoch != m.Epoch+1 || len(c.Commitment) != len(events.Hash{}) {
		return "it begins no epoch"
	}
	m.Epoch = c.Epoch
	m.commitments[c.Epoch] = c.Commitment
	return ""
}
