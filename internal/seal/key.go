package seal

import (
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Overhead is how many bytes longer a sealed text is: the encapsulated key (32) and the tag (16).
const Overhead = 48

// keySize is the length of each half of an X25519 key in bytes (RFC 7748).
const keySize = 32

var (
	// ErrBadKey is returned for bytes that are no key.
	ErrBadKey = errors.New("seal: not a key")
	// ErrOpen is returned by Open for what was not sealed to the key, or was changed since, or has another header.
	ErrOpen = errors.New("seal: cannot be opened")
)

// A PublicKey seals. The zero value is no key. It is safe for concurrent use.
type PublicKey struct{ key hpke.PublicKey }

// A PrivateKey opens what was sealed to its public half. The zero value is no key. It is safe for concurrent use.
type PrivateKey struct{ key hpke.PrivateKey }

// NewPrivateKey makes a key pair from the system's random source.
func NewPrivateKey() (PrivateKey, error) {
	key, err := kem().GenerateKey()
	if err != nil {
		return PrivateKey{}, fmt.Errorf("seal: make a key: %w", err)
	}
	return PrivateKey{key}, nil
}

// ParsePublicKey reads what PublicKey.Bytes returned. It returns ErrBadKey for anything else.
func ParsePublicKey(b []byte) (PublicKey, error) {
	key, err := kem().NewPublicKey(b)
	if err != nil {
		return PublicKey{}, fmt.Errorf("%w: %w", ErrBadKey, err)
	}
	return PublicKey{key}, nil
}

// Bytes returns the key's 32 bytes.
func (p PublicKey) Bytes() []byte { return p.key.Bytes() }

// ID names the key: the first 8 bytes of the SHA-256 of its bytes, as 16 hexadecimal digits.
func (p PublicKey) ID() string {
	sum := sha256.Sum256(p.key.Bytes())
	return hex.EncodeToString(sum[:8])
}

// Seal encrypts text to the key and binds header to it; the header itself is not part of the result. The result is
// Overhead bytes longer than text, and another one at each call.
func (p PublicKey) Seal(header, text []byte) ([]byte, error) {
	sealed, err := hpke.Seal(p.key, hpke.HKDFSHA256(), hpke.AES256GCM(), header, text)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return sealed, nil
}

// Public returns the key's public half.
func (k PrivateKey) Public() PublicKey { return PublicKey{k.key.PublicKey()} }

// Open returns the text that was sealed to the key's public half with this header. It returns ErrOpen if there is none,
// whatever the bytes are.
func (k PrivateKey) Open(header, sealed []byte) ([]byte, error) {
	text, err := hpke.Open(k.key, hpke.HKDFSHA256(), hpke.AES256GCM(), header, sealed)
	if err != nil {
		return nil, ErrOpen
	}
	return text, nil
}

// bytes returns the secret half.
func (k PrivateKey) bytes() ([]byte, error) { return k.key.Bytes() }

// parsePrivateKey reads what PrivateKey.bytes returned.
func parsePrivateKey(b []byte) (PrivateKey, error) {
	key, err := kem().NewPrivateKey(b)
	if err != nil {
		return PrivateKey{}, fmt.Errorf("%w: %w", ErrBadKey, err)
	}
	return PrivateKey{key}, nil
}

func kem() hpke.KEM { return hpke.DHKEM(ecdh.X25519()) }
