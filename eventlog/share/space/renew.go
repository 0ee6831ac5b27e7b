package space

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
)

// nextKeyFile holds the key that Renew is about to give this machine.
const nextKeyFile = "device.next"

// Renew makes this machine another one of the space, with a key of its own. It is for a home that was copied: the two homes have
// one key, and would confirm in each other's name what only one of them did. The machine that it was stays in the space, for the
// other home; that may be done without a person, because whoever has a machine's key can read and invite as it can. No other
// machine has to be awake.
//
// Once it returns nil the space must be opened again, and s not be used any more. Called again after an error, or a crash, it goes on. It
// returns ErrRevoked where the machine that this home was is not in the space any more, ErrFull, or what Refresh does.
func (s *Space) Renew(ctx context.Context, now time.Time) error {
	next := filepath.Join(s.dir, nextKeyFile)
	keys, err := loadOrCreateKeys(next)
	if err != nil {
		return fmt.Errorf("space: another key for this machine: %w", err)
	}
	if err := s.admit(ctx, keys.Public(), now); err != nil {
		return fmt.Errorf("space: enter as another machine: %w", err)
	}
	if err := s.layAll(ctx, s.Manifest(), keys.Public(), nil); err != nil {
		return fmt.Errorf("space: enter as another machine: %w", err)
	}
	// Last: until then this home is the machine that it was, and a second call goes on. So it is where the new name is lost with the power.
	if err := os.Rename(next, filepath.Join(s.dir, keyFile)); err != nil {
		return fmt.Errorf("space: another key for this machine: %w", err)
	}
	_ = durable.SyncDir(s.dir)
	return nil
}

// admit has another machine enter by an invitation of this one's, unless it is in the space already.
func (s *Space) admit(ctx context.Context, public Public, now time.Time) error {
	if err := s.Refresh(ctx); err != nil {
		return err
	}
	if d, ok := s.Manifest().Machine(public.ID()); ok && d.Current() {
		return nil
	}
	name := s.anotherName()
	code, err := s.Invite(ctx, name, "", now)
	if err != nil {
		return err
	}
	door, err := code.keys()
	if err != nil {
		return err
	}
	s.mu.Lock()
	sealed, err := sealName(name, s.local.Keys, public)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.change(ctx, func(Manifest) (change, *Keys, error) {
		return change{At: now, Kind: entered, Member: &public, Name: sealed}, door, nil
	})
}

// anotherName is this machine's name with the next number that nobody has: laptop-2 after laptop.
func (s *Space) anotherName() string {
	m := s.Manifest()
	taken := map[string]bool{}
	for _, d := range m.Machines() {
		taken[d.Name] = taken[d.Name] || d.Current()
	}
	self, _ := m.Machine(s.Self())
	name := self.Name
	if i := strings.LastIndexByte(name, '-'); i > 0 && i+1 < len(name) && strings.Trim(name[i+1:], "0123456789") == "" {
		name = name[:i]
	}
	name = name[:min(len(name), maxName-len("-1000000"))]
	for n := 2; ; n++ {
		if numbered := fmt.Sprintf("%s-%d", name, n); !taken[numbered] {
			return numbered
		}
	}
}
