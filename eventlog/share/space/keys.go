package space

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hpke"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/owned"
)

// ErrKey is returned for bytes that are no key, and for a key file that is not this user's alone.
var ErrKey = errors.New("space: not a key")

// Public is a member's public half: the Ed25519 key that its signatures are verified with, and the HPKE key (ML-KEM-768 with X25519)
// that is sealed to.
type Public struct {
	Sign []byte `json:"sign"`
	Seal []byte `json:"seal,omitempty"`
}

// ID names the member.
func (p Public) ID() MemberID {
	d := sha256.New()
	d.Write([]byte("cmemd member\x00"))
	d.Write(p.Sign)
	d.Write(p.Seal)
	return MemberID(d.Sum(nil)[:len(MemberID{})])
}

// check returns ErrKey for what are no keys.
func (p Public) check() error {
	if len(p.Sign) != ed25519.PublicKeySize {
		return fmt.Errorf("%w: %d bytes to verify with", ErrKey, len(p.Sign))
	}
	if _, err := kem().NewPublicKey(p.Seal); err != nil {
		return fmt.Errorf("%w: %w", ErrKey, err)
	}
	return nil
}

// verify reports whether signature is the member's over domain and text.
func (p Public) verify(domain string, text, signature []byte) bool {
	return len(p.Sign) == ed25519.PublicKeySize && ed25519.Verify(p.Sign, append([]byte(domain), text...), signature)
}

// Keys are a member's private half. They are safe for concurrent use.
type Keys struct {
	public Public
	sign   ed25519.PrivateKey
	seal   hpke.PrivateKey
}

// keysOf derives keys from a secret of at least 16 random bytes.
func keysOf(secret []byte) (*Keys, error) {
	seed, err := derive(secret, "sign", ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	material, err := derive(secret, "seal", 32)
	if err != nil {
		return nil, err
	}
	seal, err := kem().DeriveKeyPair(material)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	sign := ed25519.NewKeyFromSeed(seed)
	return &Keys{
		public: Public{Sign: sign.Public().(ed25519.PublicKey), Seal: seal.PublicKey().Bytes()}, sign: sign, seal: seal,
	}, nil
}

func derive(secret []byte, what string, n int) ([]byte, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, "cmemd space "+what, n)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return key, nil
}

// Public returns the public half, ID its name.
func (k *Keys) Public() Public { return k.public }
func (k *Keys) ID() MemberID   { return k.public.ID() }

// Signer returns the key that segments are signed with.
func (k *Keys) Signer() ed25519.PrivateKey { return k.sign }

func (k *Keys) signature(domain string, text []byte) []byte {
	return ed25519.Sign(k.sign, append([]byte(domain), text...))
}

const (
	keyFile         = "device.key"
	keyPrefix       = "cmemd device key 1 " // and the secret in hexadecimal digits
	secretSize      = 32
	maxKeyFileBytes = 256
	keyFileMode     = 0o600
)

// DeviceKeys returns the keys of the machine whose home dir is, from its file device.key, which it makes where it is not there. It
// returns an error wrapping ErrKey where the file holds no key, or others may read or write it.
func DeviceKeys(dir string) (*Keys, error) { return loadOrCreateKeys(filepath.Join(dir, keyFile)) }

// loadOrCreateKeys returns the keys whose secret the file at path holds, which is made where it is not there.
func loadOrCreateKeys(path string) (*Keys, error) {
	secret, err := readSecret(path)
	if errors.Is(err, fs.ErrNotExist) {
		secret = make([]byte, secretSize)
		rand.Read(secret) // never fails
		err = durable.Replace(path, []byte(keyPrefix+hex.EncodeToString(secret)+"\n"), keyFileMode)
	}
	if err != nil {
		return nil, fmt.Errorf("space: this machine's key: %w", err)
	}
	return keysOf(secret)
}

func readSecret(path string) ([]byte, error) {
	if err := private(path); err != nil {
		return nil, err
	}
	data, err := durable.ReadBounded(path, maxKeyFileBytes)
	if err != nil {
		return nil, err
	}
	digits, ok := strings.CutPrefix(strings.TrimSuffix(string(data), "\n"), keyPrefix)
	secret, err := hex.DecodeString(digits)
	if !ok || err != nil || len(secret) != secretSize {
		return nil, fmt.Errorf("%w: %s; move it away and enter the space again", ErrKey, path)
	}
	return secret, nil
}

// private returns an error wrapping ErrKey where another user could read or change the file at path.
func private(path string) error {
	if err := owned.File(path); err != nil {
		if errors.Is(err, owned.ErrOthers) {
			return fmt.Errorf("%w: %w", ErrKey, err)
		}
		return err
	}
	if others, err := readableByOthers(path); err != nil || others {
		return errors.Join(err, fmt.Errorf("%w: others may read %s; chmod 600 it", ErrKey, path))
	}
	return nil
}

func kem() hpke.KEM { return hpke.MLKEM768X25519() }
