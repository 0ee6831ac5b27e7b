package seal

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/owned"
)

const (
	presentFile  = "present.pub" // the public half to seal to: 64 hexadecimal digits and a line feed
	privateEnd   = ".key"        // ends the name of a private half, which begins with the key's id
	maxKeyFile   = 256           // bytes; a key file holds at most 64 digits and a time
	keyMode      = 0o600
	keyDirectory = 0o700
)

// readPublic reads the present public half. The folder must be this user's alone, and the file one of this user's.
func readPublic(dir string) (PublicKey, error) {
	data, err := readKeyFile(dir, presentFile)
	if err != nil {
		return PublicKey{}, err
	}
	raw, err := digits(data)
	if err != nil {
		return PublicKey{}, fmt.Errorf("%s: %w", presentFile, err)
	}
	return ParsePublicKey(raw)
}

// A pair is a private half as it lies on disk.
type pair struct {
	id   string
	made time.Time // before the public half was on disk
	key  PrivateKey
}

// readPrivate reads the private half of a key.
func readPrivate(dir, id string) (pair, error) {
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != 8 {
		return pair{}, fmt.Errorf("%w: id %q", ErrBadKey, id)
	}
	data, err := readKeyFile(dir, id+privateEnd)
	if err != nil {
		return pair{}, err
	}
	secret, made, _ := strings.Cut(strings.TrimSuffix(string(data), "\n"), " ")
	raw, err := digits([]byte(secret))
	if err != nil {
		return pair{}, fmt.Errorf("%s: %w", id+privateEnd, err)
	}
	p := pair{id: id}
	if p.made, err = time.Parse(time.RFC3339, made); err != nil {
		return pair{}, fmt.Errorf("%s: %w: no time", id+privateEnd, ErrBadKey)
	}
	if p.key, err = parsePrivateKey(raw); err != nil {
		return pair{}, err
	}
	if p.key.Public().ID() != id {
		return pair{}, fmt.Errorf("%s: %w: it is another key's", id+privateEnd, ErrBadKey)
	}
	return p, nil
}

// write puts the private half on disk, then the public half in the place of the one before.
func (p pair) write(dir string) error {
	if err := p.writePrivate(dir); err != nil {
		return err
	}
	public := hex.EncodeToString(p.key.Public().Bytes()) + "\n"
	return durable.Replace(filepath.Join(dir, presentFile), []byte(public), keyMode)
}

// writePrivate puts the private half on disk.
func (p pair) writePrivate(dir string) error {
	secret, err := p.key.bytes()
	if err != nil {
		return err
	}
	line := hex.EncodeToString(secret) + " " + p.made.UTC().Format(time.RFC3339) + "\n"
	return durable.Replace(filepath.Join(dir, p.id+privateEnd), []byte(line), keyMode)
}

// readKeyFile reads a file that only this user could have written.
func readKeyFile(dir, name string) ([]byte, error) {
	if err := owned.Folder(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name)
	if err := owned.File(path); err != nil {
		return nil, err
	}
	return durable.ReadBounded(path, maxKeyFile)
}

// digits reads the hexadecimal digits of one half, with or without a line feed behind them.
func digits(data []byte) ([]byte, error) {
	raw, err := hex.DecodeString(strings.TrimSuffix(string(data), "\n"))
	if err != nil || len(raw) != keySize {
		return nil, fmt.Errorf("%w: not %d bytes in hexadecimal digits", ErrBadKey, keySize)
	}
	return raw, nil
}

// makeFolder makes the folder of the keys.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, keyDirectory); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(dir))
}
