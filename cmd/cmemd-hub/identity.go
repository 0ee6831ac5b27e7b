package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/filelock"
	"github.com/cmemd/cmemd/internal/owned"
)

// identity is what a hub is known by and whom it lets in. It stays with the folder.
type identity struct {
	cert  tls.Certificate
	token string
}

const (
	pemName   = "hub.pem"
	tokenName = "token"
	lockName  = "lock"

	lockTries = 30
	lockEvery = 100 * time.Millisecond

	maxSecret = 64 << 10 // bytes of either file; they have some hundred
	minToken  = 26       // letters of rand.Text: 130 bits
)

// prepare makes the folder, takes its lock, and reads who the hub is, which it makes the first time. The caller closes the lock.
func prepare(dir string) (identity, *os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return identity{}, nil, err
	}
	if err := owned.Folder(dir); err != nil {
		return identity{}, nil, fmt.Errorf("%w: choose a folder of your own for --dir, or take others' rights away (chmod 700)", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return identity{}, nil, err
	}
	free, err := filelock.Try(lock)
	for tries := 0; err == nil && !free && tries < lockTries; tries++ { // one that was killed takes a moment to end
		time.Sleep(lockEvery)
		free, err = filelock.Try(lock)
	}
	if err == nil && !free {
		err = fmt.Errorf("another hub runs in %s: stop it, or choose another --dir", dir)
	}
	var id identity
	if err == nil {
		id, err = readIdentity(dir)
	}
	if err != nil {
		return identity{}, nil, errors.Join(err, lock.Close())
	}
	return id, lock, nil
}

func readIdentity(dir string) (id identity, err error) {
	text, err := readOrMake(filepath.Join(dir, pemName), makePEM)
	if err != nil {
		return identity{}, err
	}
	if id.cert, err = tls.X509KeyPair(text, text); err != nil {
		return identity{}, fmt.Errorf("%s holds no key and certificate (%w): put back what was there; without it every machine joins anew",
			filepath.Join(dir, pemName), err)
	}
	text, err = readOrMake(filepath.Join(dir, tokenName), func() ([]byte, error) { return []byte(rand.Text() + "\n"), nil })
	if err != nil {
		return identity{}, err
	}
	if id.token = strings.TrimSpace(string(text)); len(id.token) < minToken {
		return identity{}, fmt.Errorf("%s is shorter than %d letters: delete it, and a new one is made", filepath.Join(dir, tokenName), minToken)
	}
	return id, nil
}

// readOrMake reads a file of this user's alone, and makes it where there is none.
func readOrMake(path string, make func() ([]byte, error)) ([]byte, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		text, err := make()
		if err != nil {
			return nil, err
		}
		return text, durable.Replace(path, text, 0o600)
	}
	if err := owned.File(path); err != nil {
		return nil, err
	}
	return durable.ReadBounded(path, maxSecret)
}

// makePEM makes a key and a certificate for it that it signs itself. It is known by its fingerprint alone, so that it has no
// names and does not end.
func makePEM() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "cmemd hub"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), // RFC 5280: it does not end
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for _, block := range []pem.Block{{Type: "PRIVATE KEY", Bytes: private}, {Type: "CERTIFICATE", Bytes: cert}} {
		if err := pem.Encode(&text, &block); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}
