package sharing

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/eventlog/share/store/folder"
	"github.com/cmemd/cmemd/eventlog/share/store/jet"
	"github.com/cmemd/cmemd/internal/durable"
)

// address is where a store is, with what lets this machine in: a folder's absolute path, or what jet.ParseAddresses reads.
type address string

// IsServer reports whether a text is meant as the address of a server rather than a folder.
func IsServer(text string) bool {
	return strings.HasPrefix(text, "nats://") || strings.HasPrefix(text, "tls://")
}

// parseAddress returns ErrWhere, or jet.ErrAddress.
func parseAddress(text string) (address, error) {
	if IsServer(text) {
		_, err := jet.ParseAddresses(text)
		return address(text), err
	}
	if !filepath.IsAbs(text) {
		return "", ErrWhere
	}
	return address(filepath.Clean(text)), nil
}

// open opens the store, and reopen one that this home has joined. Both may take as long as a network, or a mount, takes.
func (a address) open() (store.Store, error)   { return a.openAs(folder.Config{}) }
func (a address) reopen() (store.Store, error) { return a.openAs(folder.Config{Existing: true}) }

func (a address) openAs(config folder.Config) (store.Store, error) {
	if IsServer(string(a)) {
		s, err := jet.Open(string(a), jet.Config{})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	s, err := folder.Open(string(a), config)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// shown is the address without what lets a machine in.
func (a address) shown() string {
	if !IsServer(string(a)) {
		return string(a)
	}
	all, err := jet.ParseAddresses(string(a))
	if err != nil {
		return "nats"
	}
	var shown []string
	for _, one := range all {
		shown = append(shown, one.URL.Scheme+"://"+one.URL.Host)
	}
	return strings.Join(shown, ",")
}

const (
	addressFile    = "store"
	addressFormat  = 1
	maxAddressFile = 64 << 10
	secretMode     = 0o600
)

// addressState is the file of that name.
type addressState struct {
	Format  int     `json:"format"`
	Address address `json:"address"`
}

// errNewer is a file of a newer program.
var errNewer = errors.New("a file was written by a newer cmemd; upgrade this machine's")

func readAddress(dir string) (address, error) {
	path := filepath.Join(dir, addressFile)
	data, err := durable.ReadBounded(path, maxAddressFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is gone, which says where the store is: `cmemd leave --force`, then join again", path)
	}
	var s addressState
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return "", fmt.Errorf("%s cannot be read (%w): `cmemd leave --force`, then join again", path, err)
	}
	if s.Format != addressFormat {
		return "", fmt.Errorf("%w (%s has format %d)", errNewer, path, s.Format)
	}
	return parseAddress(string(s.Address))
}

// write is durable on return.
func (a address) write(dir string) error {
	data, err := json.Marshal(addressState{addressFormat, a})
	if err == nil {
		err = durable.Replace(filepath.Join(dir, addressFile), data, secretMode)
	}
	if err != nil {
		return fmt.Errorf("keep where the store is: %w", err)
	}
	return nil
}
