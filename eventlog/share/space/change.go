package space

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Errors of reading a manifest.
var (
	// ErrManifest is returned for a manifest that is damaged, or one of whose changes its signer was not free to make.
	ErrManifest = errors.New("space: the list of machines is not to be believed")
	// ErrNewer is returned for a manifest, or a change of a kind, that is newer than this program.
	ErrNewer = errors.New("space: changed by a newer cmemd; upgrade this machine's")
)

// changeKind is what a change does. Numbers are not used so that a manifest can be read.
type changeKind string

const (
	created   changeKind = "created"   // the space, by the machine in Member
	invited   changeKind = "invited"   // whoever has the secret of Member, until Expires
	entered   changeKind = "entered"   // the machine in Member, by an invitation or the recovery code
	withdrawn changeKind = "withdrawn" // the invitation Who
	revoked   changeKind = "revoked"   // the machine Who; an epoch begins
	left      changeKind = "left"      // the machine that says so
)

func (k changeKind) known() bool {
	return slices.Contains([]changeKind{created, invited, entered, withdrawn, revoked, left}, k)
}

// change is one link of the manifest's chain.
type change struct {
	Number   uint64      `json:"number"` // from 1
	Previous events.Hash `json:"previous,omitzero"`
	At       time.Time   `json:"at"` // by the signer's clock
	By       MemberID    `json:"by"`
	Kind     changeKind  `json:"kind"`

	Member     *Public   `json:"member,omitempty"` // of an invitation the half that verifies, and Who is its id
	Name       []byte    `json:"name,omitempty"`   // sealed, of the machine in Member, or of the one that is awaited
	Recovery   *Public   `json:"recovery,omitempty"`
	Expires    time.Time `json:"expires,omitzero"`
	Who        MemberID  `json:"who,omitzero"`
	Epoch      uint32    `json:"epoch,omitempty"`      // that begins
	Commitment []byte    `json:"commitment,omitempty"` // to the epoch's key
	Feeds      []Feed    `json:"feeds,omitempty"`      // of the machine that goes, as far as they are to be believed
	Nonce      []byte    `json:"nonce,omitempty"`      // so that no two spaces are one
}

// Feed is how far a log was read.
type Feed struct {
	Log  events.LogID    `json:"log"`
	Last events.Position `json:"last"`
}

// entry is a change as it is stored: its JSON and the signature over it.
type entry struct {
	text      []byte
	signature []byte
}

const changeDomain = "cmemd space change\x00"

func newEntry(c change, by *Keys) (entry, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return entry{}, fmt.Errorf("space: %w", err)
	}
	return entry{text, by.signature(changeDomain, text)}, nil
}

// hash is what the next change names.
func (e entry) hash() events.Hash { return sha256.Sum256(e.text) }

func (e entry) change() (c change, err error) {
	d := json.NewDecoder(bytes.NewReader(e.text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf("%w: %w", ErrNewer, err)
	}
	return c, nil
}

// A manifest in bytes is a magic word, a format, and its entries: length 4, signature 64, text.
const (
	manifestMagic  = "cmsp"
	manifestFormat = 1
	entryHead      = 4 + ed25519.SignatureSize
)

func appendEntries(b []byte, entries ...entry) []byte {
	if len(b) == 0 {
		b = append([]byte(manifestMagic), manifestFormat)
	}
	for _, e := range entries {
		b = binary.BigEndian.AppendUint32(b, uint32(len(e.text)))
		b = append(append(b, e.signature...), e.text...)
	}
	return b
}

// afterHead is a manifest's entries.
func afterHead(b []byte) ([]byte, error) {
	if len(b) < len(manifestMagic)+1 || string(b[:4]) != manifestMagic {
		return nil, fmt.Errorf("%w: %d bytes are no list", ErrManifest, len(b))
	}
	if b[4] != manifestFormat {
		return nil, fmt.Errorf("%w (format %d)", ErrNewer, b[4])
	}
	return b[5:], nil
}

func parseEntries(b []byte) (entries []entry, err error) {
	for len(b) > 0 {
		n := uint64(0)
		if len(b) >= entryHead {
			n = uint64(binary.BigEndian.Uint32(b))
		}
		if n == 0 || n > uint64(len(b)-entryHead) {
			return nil, fmt.Errorf("%w: change %d is cut", ErrManifest, len(entries)+1)
		}
		end := entryHead + int(n)
		entries = append(entries, entry{text: slices.Clip(b[entryHead:end]), signature: b[4:entryHead:entryHead]})
		b = b[end:]
	}
	return entries, nil
}
