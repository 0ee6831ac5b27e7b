package space

import (
	"context"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/internal/transient"
)

// ErrNoKey is returned where the key of an epoch is not there for this machine yet: another machine has to lay it down.
var ErrNoKey = transient.Mark(errors.New("space: the key is not there yet; another machine of the space must be awake once"))

// EpochKey is the secret of an epoch.
type EpochKey = [32]byte

// commitment is what the change that begins an epoch says of its key.
func commitment(epoch uint32, key EpochKey) []byte {
	sum := sha256.Sum256(append(binary.BigEndian.AppendUint32([]byte("cmemd epoch key\x00"), epoch), key[:]...))
	return sum[:]
}

// keysPart stands before what is said of keys, in the keys of the store.
func (id ID) keysPart() string { return id.String() + "/key/" }

// epochPart names a key of an epoch: with its commitment, because two machines that are about to begin one epoch both lay their keys.
func epochPart(epoch uint32, commitment []byte) string {
	return fmt.Sprintf("%08x.%x", epoch, commitment[:8])
}

// wrapKey is where the key of an epoch lies for a holder.
func (id ID) wrapKey(epoch uint32, commitment []byte, holder MemberID) store.Key {
	return store.Key(id.keysPart() + epochPart(epoch, commitment) + "/" + holder.String())
}

// doorPart stands for the epoch where the key lies that is sealed to for an invitation: 1,216 bytes, for which the chain has no room.
const doorPart = "door"

func (id ID) doorKey(invitation MemberID) store.Key {
	return store.Key(id.keysPart() + doorPart + "/" + invitation.String())
}

func (id ID) wrapInfo(epoch uint32, holder MemberID) []byte {
	b := append([]byte("cmemd epoch key\x00"), id[:]...)
	return append(binary.BigEndian.AppendUint32(b, epoch), holder[:]...)
}

// storeKey puts the key of an epoch, sealed to a holder, into the store. One that is there already stays.
func (id ID) storeKey(ctx context.Context, s store.Store, epoch uint32, key EpochKey, to Public) error {
	public, err := kem().NewPublicKey(to.Seal)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrKey, err)
	}
	sealed, err := hpke.Seal(public, hpke.HKDFSHA256(), hpke.AES256GCM(), id.wrapInfo(epoch, to.ID()), key[:])
	if err != nil {
		return fmt.Errorf("space: seal a key: %w", err)
	}
	if _, err = s.Create(ctx, id.wrapKey(epoch, commitment(epoch, key), to.ID()), sealed); errors.Is(err, store.ErrExists) {
		return nil
	}
	return err
}

// take returns the key of an epoch that was laid for one of the holders, if it is the one that the manifest names.
func (id ID) take(ctx context.Context, s store.Store, epoch uint32, want []byte, holders ...*Keys) (key EpochKey, err error) {
	for _, h := range holders {
		sealed, _, err := s.Get(ctx, id.wrapKey(epoch, want, h.ID()))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return key, err
		}
		text, err := hpke.Open(h.seal, hpke.HKDFSHA256(), hpke.AES256GCM(), id.wrapInfo(epoch, h.ID()), sealed)
		if err == nil && len(text) == len(key) && string(commitment(epoch, EpochKey(text))) == string(want) {
			return EpochKey(text), nil
		}
	}
	return key, fmt.Errorf("%w (epoch %d)", ErrNoKey, epoch)
}
