package space

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/cmemd/cmemd/eventlog/share/store"
)

// ErrRevoked is returned where this machine was revoked.
var ErrRevoked = errors.New("space: this machine was revoked; `cmemd leave`, then `cmemd join CODE` lets it in as another one")

// Space is a machine's view of its space. It is safe for concurrent use.
type Space struct {
	id    ID
	dir   string
	store store.Store
	keys  *Keys

	manifestLock *semaphore.Weighted // holds one token, for whoever reads the manifest and writes what follows from it

	files sync.Mutex // is held while the file of what is known is written or removed; before mu

	mu       sync.Mutex // guards the fields below
	local    localState
	manifest Manifest
	left     bool // Forget was called
}

// Open returns the space that this machine, whose folder dir is, is in, as it knew it last. It asks the store nothing. It returns
// ErrNone where it is in none.
func Open(dir string, s store.Store) (*Space, error) {
	k, err := readLocalState(dir)
	if err != nil {
		return nil, err
	}
	keys, err := DeviceKeys(dir)
	if err != nil {
		return nil, err
	}
	m, err := fold(k.Manifest, k.ID)
	if err != nil {
		return nil, err
	}
	return newSpace(dir, s, keys, k, m), nil
}

func newSpace(dir string, s store.Store, keys *Keys, k localState, m Manifest) *Space {
	if k.Keys == nil {
		k.Keys = map[uint32]EpochKey{}
	}
	return &Space{id: k.ID, dir: dir, store: patient{s}, keys: keys, manifestLock: semaphore.NewWeighted(1), local: k, manifest: m.named(k.Keys)}
}

// named is m with the names of its machines, as far as keys open them; what has none is called by the beginning of its id.
func (m Manifest) named(keys map[uint32]EpochKey) Manifest {
	m.machines = maps.Clone(m.machines)
	for id, d := range m.machines {
		if d.Name = openName(d.sealed, keys, d.Public); d.Name == "" {
			d.Name = id.String()[:8]
		}
		m.machines[id] = d
	}
	return m
}

// ID names the space, Self this machine, Keys are its keys.
func (s *Space) ID() ID         { return s.id }
func (s *Space) Self() MemberID { return s.keys.ID() }
func (s *Space) Keys() *Keys    { return s.keys }

// Store is where the space is kept. Each call but Watch ends within a minute.
func (s *Space) Store() store.Store { return s.store }

// Manifest is what this machine knows of the space.
func (s *Space) Manifest() Manifest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.manifest
}

// EpochKey returns the key of an epoch. It returns ErrNoKey where this machine was not given it yet.
func (s *Space) EpochKey(epoch uint32) (EpochKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, ok := s.local.Keys[epoch]
	if !ok {
		return key, fmt.Errorf("%w (epoch %d)", ErrNoKey, epoch)
	}
	return key, nil
}

// ManifestKey is where the manifest lies in the store.
func (id ID) ManifestKey() store.Key { return store.Key(id.String() + "/" + WatchedPart + "/space") }

// WatchedPart follows the space's id in the keys of what machines wait for; see store.Store.Watch.
const WatchedPart = "now"

// Refresh takes the manifest from the store, and the keys that this machine misses. It returns ErrRevoked, ErrNoKey, ErrRolledBack,
// ErrDiverged, ErrManifest, ErrNewer, or what the store returned; then the space is as it was. Where the store has an older manifest
// than this machine, a damaged one or none, it is given this machine's.
func (s *Space) Refresh(ctx context.Context) error {
	if err := s.manifestLock.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.manifestLock.Release(1)
	body, rev, err := s.read(ctx)
	if errors.Is(err, ErrDiverged) {
		err = s.diverged(body)
	}
	if errors.Is(err, ErrRolledBack) || errors.Is(err, ErrManifest) || errors.Is(err, store.ErrNotFound) {
		return errors.Join(err, s.restore(ctx, rev))
	}
	if err != nil {
		return err
	}
	return s.ready()
}

// diverged says what is wrong with a manifest that is not the known one: ErrManifest where it is damaged, else ErrDiverged with the
// machines that were taken out and are in again by it.
func (s *Space) diverged(body []byte) error {
	theirs, err := fold(body, s.ID())
	if errors.Is(err, ErrManifest) {
		return err
	}
	var back []string
	for _, d := range s.Manifest().Machines() {
		if other, ok := theirs.Machine(d.ID); ok && d.Revoked && !other.Revoked {
			back = append(back, d.Name)
		}
	}
	if len(back) == 0 {
		return ErrDiverged
	}
	return fmt.Errorf("%w; that %s was revoked is lost: revoke it once more, on a machine that knows it as one of the space",
		ErrDiverged, strings.Join(back, " and "))
}

// restore puts the manifest that this machine knows in the place of an older or a damaged one, or where the store has none any more, so
// that the store is as it was once all machines have said what they know. Its caller has the turn.
func (s *Space) restore(ctx context.Context, rev store.Rev) error {
	s.mu.Lock()
	body := s.local.Manifest
	s.mu.Unlock()
	_, err := store.Put(ctx, s.store, s.ID().ManifestKey(), rev, body)
	return err
}

// ready returns ErrRevoked or ErrNoKey where this machine cannot seal.
func (s *Space) ready() error {
	m := s.Manifest()
	if d, ok := m.Machine(s.Self()); !ok || !d.Current() {
		return ErrRevoked
	}
	_, err := s.EpochKey(m.Epoch)
	return err
}

// read takes the manifest from the store. Its caller has the turn.
func (s *Space) read(ctx context.Context) (body []byte, rev store.Rev, err error) {
	body, rev, err = s.store.Get(ctx, s.ID().ManifestKey())
	if err != nil {
		return nil, "", fmt.Errorf("space: read the list of machines: %w", err)
	}
	return body, rev, s.accept(ctx, body)
}

// accept makes a manifest the one that is known, if it continues that one. Its caller has the turn.
func (s *Space) accept(ctx context.Context, body []byte) error {
	s.mu.Lock()
	k, m := s.local, s.manifest
	s.mu.Unlock()
	if err := continues(k.Manifest, body); err != nil {
		return err
	}
	changed := !bytes.Equal(k.Manifest, body)
	if changed {
		var err error
		if m, err = m.extended(body[len(k.Manifest):]); err != nil {
			return err
		}
	}
	k.Manifest, k.Keys = body, maps.Clone(k.Keys)
	took, err := s.takeKeys(ctx, m, &k)
	if err != nil {
		return err
	}
	if changed || took {
		return s.keep(k, m)
	}
	return nil
}

// keep puts what is known on disk, then in the place of what was known. It returns ErrNone once Forget was called.
func (s *Space) keep(k localState, m Manifest) error {
	s.files.Lock()
	defer s.files.Unlock()
	s.mu.Lock()
	left := s.left
	s.mu.Unlock()
	if left {
		return ErrNone
	}
	if err := k.write(s.dir); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.local, s.manifest = k, m.named(k.Keys)
	return nil
}

// Forget removes what this machine knows of its space, keys included, as the function Forget does. A call that hangs, and goes on later,
// does not put it there again.
func (s *Space) Forget() error {
	s.files.Lock()
	defer s.files.Unlock()
	s.mu.Lock()
	s.left = true
	s.mu.Unlock()
	return Forget(s.dir)
}

// takeKeys adds the keys of m's epochs that k has not; took is whether there were any. A key that is not there yet is no error.
func (s *Space) takeKeys(ctx context.Context, m Manifest, k *localState) (took bool, err error) {
	for epoch := uint32(1); epoch <= m.Epoch; epoch++ {
		if _, ok := k.Keys[epoch]; ok {
			continue
		}
		key, err := k.pending(epoch, m.commitments[epoch])
		if err != nil {
			key, err = k.ID.take(ctx, s.store, epoch, m.commitments[epoch], s.keys)
		}
		if errors.Is(err, ErrNoKey) {
			continue
		}
		if err != nil {
			return took, err
		}
		k.Keys[epoch], took = key, true
	}
	return took, nil
}

// pending returns the key that this machine began an epoch with.
func (k *localState) pending(epoch uint32, want []byte) (EpochKey, error) {
	for _, key := range k.Pending {
		if bytes.Equal(commitment(epoch, key), want) {
			return key, nil
		}
	}
	return EpochKey{}, ErrNoKey
}

// Tend does what a machine owes the others: withdraws invitations that nobody used in time, lays the keys of all epochs for those who miss
// one, and takes away what lies there for nobody any more. Nothing is lost where it is called seldom.
func (s *Space) Tend(ctx context.Context, now time.Time) error {
	for _, id := range s.Manifest().expired(now) {
		if err := s.withdraw(ctx, id, now); err != nil {
			return err
		}
	}
	m := s.Manifest()
	if _, err := s.EpochKey(m.Epoch); err != nil {
		return err
	}
	laid, err := s.tidyKeys(ctx, m)
	if err != nil {
		return err
	}
	holders := m.members(MemberID{})
	for id, i := range m.invitations {
		if i.isOpen(now) {
			door, err := s.invitationKey(ctx, id, i)
			if errors.Is(err, store.ErrNotFound) || errors.Is(err, ErrKey) {
				continue // the store lost it: who has the code needs another one
			}
			if err != nil {
				return err
			}
			holders = append(holders, door)
		}
	}
	for _, h := range holders {
		if err := s.layAll(ctx, m, h, laid); err != nil {
			return err
		}
	}
	return nil
}

// layAll lays the keys of all epochs that this machine has for a holder, but for those that lie there.
func (s *Space) layAll(ctx context.Context, m Manifest, to Public, laid map[store.Key]bool) error {
	for epoch := uint32(1); epoch <= m.Epoch; epoch++ {
		key, err := s.EpochKey(epoch)
		if errors.Is(err, ErrNoKey) && epoch < m.Epoch || laid[s.id.wrapKey(epoch, m.commitments[epoch], to.ID())] {
			continue
		}
		if err == nil {
			err = s.id.storeKey(ctx, s.store, epoch, key, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// invitationKey is the public half of an invitation. It returns ErrKey for what is another's, and what the store returned.
func (s *Space) invitationKey(ctx context.Context, id MemberID, i invitation) (Public, error) {
	seal, _, err := s.store.Get(ctx, s.id.doorKey(id))
	p := Public{Sign: i.sign, Seal: seal}
	if err == nil && p.ID() != id {
		err = ErrKey
	}
	return p, err
}

// tidyKeys takes away the keys that lie there for invitations that let nobody in, and those that were laid for an epoch that began with
// another one, and returns where others lie.
func (s *Space) tidyKeys(ctx context.Context, m Manifest) (laid map[store.Key]bool, err error) {
	laid, shut := map[store.Key]bool{}, m.shut()
	for e, err := range store.All(ctx, s.store, m.ID.keysPart(), "") {
		if err != nil {
			return nil, err
		}
		laid[e.Key] = true
		if shut[path.Base(string(e.Key))] || m.isPassed(path.Base(path.Dir(string(e.Key)))) {
			err = s.remove(ctx, e.Key)
		}
		if err != nil {
			return nil, err
		}
	}
	return laid, nil
}

// isPassed reports whether a part that epochPart returned is of no key, and never will be.
func (m Manifest) isPassed(part string) bool {
	digits, _, ok := strings.Cut(part, ".")
	epoch, err := strconv.ParseUint(digits, 16, 32)
	if !ok || err != nil || uint32(epoch) > m.Epoch {
		return false
	}
	want, ok := m.commitments[uint32(epoch)]
	return !ok || part != epochPart(uint32(epoch), want)
}

func (s *Space) remove(ctx context.Context, key store.Key) error {
	_, rev, err := s.store.Get(ctx, key)
	if err == nil {
		err = s.store.Delete(ctx, key, rev)
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
