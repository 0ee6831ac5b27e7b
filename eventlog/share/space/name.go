package space

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxName is how long the name of a machine may be, in bytes.
const maxName = 100

// A sealed name is the number of an epoch in 4 bytes, a nonce, and the name under that epoch's key (AES-256-GCM), bound to the member: so
// that a store that holds the manifest does not read what machines are called.
const (
	nameHead   = 4
	maxSealed  = nameHead + 12 + maxName + 16
	nameDomain = "cmemd space name\x00"
)

// sealName seals a member's name under the newest of some epochs' keys. None is sealed as none.
func sealName(name string, keys map[uint32]EpochKey, of Public) ([]byte, error) {
	if len(name) > maxName {
		return nil, fmt.Errorf("space: the name has %d bytes, at most %d may be", len(name), maxName)
	}
	if name == "" {
		return nil, nil
	}
	epoch := slices.Max(append(slices.Collect(maps.Keys(keys)), 0))
	key, ok := keys[epoch]
	if !ok {
		return nil, ErrNoKey
	}
	a, err := nameCipher(key)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, a.NonceSize())
	rand.Read(nonce)
	head := append(binary.BigEndian.AppendUint32(nil, epoch), nonce...)
	return a.Seal(head, nonce, []byte(name), nameContext(of)), nil
}

// free is a name that no other machine has or had, letter case aside: name itself, or with the first number behind it that is
// free. What machines recorded is called by their names for as long as it is there, also once they have left. m is one whose
// names are opened.
func (m Manifest) free(name string, self MemberID) string {
	taken := map[string]bool{}
	for _, d := range m.machines {
		taken[strings.ToLower(d.Name)] = d.ID != self || taken[strings.ToLower(d.Name)]
	}
	out := name
	for n := 2; taken[strings.ToLower(out)]; n++ {
		end := "-" + strconv.Itoa(n)
		out = strings.ToValidUTF8(name[:min(len(name), maxName-len(end))], "") + end
	}
	return out
}

// openName is what sealName sealed; "" where the key is not there, and for what is no name of that member.
func openName(sealed []byte, keys map[uint32]EpochKey, of Public) string {
	if len(sealed) < nameHead {
		return ""
	}
	key, ok := keys[binary.BigEndian.Uint32(sealed)]
	a, err := nameCipher(key)
	if !ok || err != nil || len(sealed) < nameHead+a.NonceSize() {
		return ""
	}
	sealed = sealed[nameHead:]
	name, err := a.Open(nil, sealed[:a.NonceSize()], sealed[a.NonceSize():], nameContext(of))
	if err != nil {
		return ""
	}
	return string(name)
}

func nameCipher(key EpochKey) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, fmt.Errorf("space: seal a name: %w", err)
	}
	return cipher.NewGCM(block)
}

func nameContext(of Public) []byte {
	id := of.ID()
	return append([]byte(nameDomain), id[:]...)
}
