package signin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"math/big"
)

// signatureSize is that of ECDSA on P-256 as WebCrypto writes it: r and s, 32 bytes each.
const signatureSize = 64

// signed is what a browser signs: the nonce behind words that no other protocol has.
func signed(nonce string) []byte { return []byte("cmemd sign-in\n" + nonce) }

// publicKey reads an uncompressed point of P-256, 65 bytes, as WebCrypto exports it in the format "raw".
func publicKey(raw []byte) (*ecdsa.PublicKey, error) {
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw)
	if err != nil {
		return nil, ErrKey
	}
	return key, nil
}

// verifies reports whether signature is key's over nonce.
func verifies(key *ecdsa.PublicKey, nonce string, signature []byte) bool {
	if len(signature) != signatureSize {
		return false
	}
	hash := sha256.Sum256(signed(nonce))
	r, s := new(big.Int).SetBytes(signature[:signatureSize/2]), new(big.Int).SetBytes(signature[signatureSize/2:])
	return ecdsa.Verify(key, hash[:], r, s)
}

// random is a secret of n bytes as text that a URL takes as it is.
func random(n int) string {
	secret := make([]byte, n)
	_, _ = rand.Read(secret) // never fails
	return base64.RawURLEncoding.EncodeToString(secret)
}

// digest is what is kept of a secret: whoever reads this memory cannot use it.
type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }
