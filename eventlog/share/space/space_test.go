package space_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/storetest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fleet is a store and the folders of machines.
type fleet struct {
	*testing.T
	engine *storetest.Memory
}

func newFleet(t *testing.T) fleet {
	t.Parallel()
	return fleet{t, storetest.NewMemory()}
}

func (f fleet) connect() *storetest.Faulty { return f.engine.Connect(nil) }

// created is a space with one machine, and its recovery code.
func (f fleet) created() (*space.Space, space.Code) {
	f.Helper()
	s, code, err := space.Create(f.Context(), f.TempDir(), f.connect(), "laptop", noon)
	if err != nil {
		f.Fatal(err)
	}
	return s, code
}

func (f fleet) invited(s *space.Space, now time.Time) space.Code {
	f.Helper()
	code, err := s.Invite(f.Context(), "desktop", "nats://hub:4222", now)
	if err != nil {
		f.Fatal(err)
	}
	return code
}

func (f fleet) entered(code space.Code, name string, now time.Time) *space.Space {
	f.Helper()
	s, err := space.Enter(f.Context(), f.TempDir(), f.connect(), code, name, "", now)
	if err != nil {
		f.Fatal(err)
	}
	return s
}

func (f fleet) refused(code space.Code, now time.Time, want error) {
	f.Helper()
	if _, err := space.Enter(f.Context(), f.TempDir(), f.connect(), code, "x", "", now); !errors.Is(err, want) {
		f.Errorf("entered with %v, want %v", err, want)
	}
}

func (f fleet) refresh(s *space.Space, want error) {
	f.Helper()
	if err := s.Refresh(f.Context()); !errors.Is(err, want) {
		f.Errorf("refreshed with %v, want %v", err, want)
	}
}

// key is the present epoch's key of a machine.
func (f fleet) key(s *space.Space) space.EpochKey {
	f.Helper()
	key, err := s.EpochKey(s.Manifest().Epoch)
	if err != nil {
		f.Fatal(err)
	}
	return key
}

func names(s *space.Space) (names []string) {
	for _, m := range s.Manifest().Machines() {
		if m.Current() {
			names = append(names, m.Name)
		}
	}
	return names
}

// TestEnter: nobody else has to be awake, and all have one key.
func TestEnter(t *testing.T) {
	f := newFleet(t)
	laptop, _ := f.created()
	code := f.invited(laptop, noon)
	typed, err := space.ParseCode("  " + strings.ToUpper(code.String()) + "\n")
	if err != nil || typed != code || typed.Address != "nats://hub:4222" {
		t.Fatalf("typed %+v, %v; want %+v", typed, err, code)
	}
	desktop := f.entered(typed, "desktop", noon.Add(23*time.Hour))
	f.refresh(laptop, nil)
	for _, s := range []*space.Space{laptop, desktop} {
		if diff := cmp.Diff([]string{"laptop", "desktop"}, names(s)); diff != "" {
			t.Error(diff)
		}
	}
	if f.key(laptop) != f.key(desktop) || laptop.ID() != desktop.ID() || laptop.Self() == desktop.Self() {
		t.Error("the machines have not one key, or are one")
	}
}

// TestInvitationsAreForOne: an invitation that was used, whose day is over, or that was withdrawn lets nobody in.
func TestInvitationsAreForOne(t *testing.T) {
	f := newFleet(t)
	laptop, _ := f.created()
	used := f.invited(laptop, noon)
	f.entered(used, "desktop", noon)
	f.refused(used, noon, space.ErrUsed)
	late := f.invited(laptop, noon)
	f.refused(late, noon.Add(space.InvitationLife+time.Second), space.ErrExpired)
	if err := laptop.Tend(t.Context(), noon.Add(space.InvitationLife+time.Hour)); err != nil {
		t.Fatal(err)
	}
	f.refused(late, noon, space.ErrExpired) // by a clock that was set back
	f.noKeysFor(laptop, 2)                  // laptop, desktop, recovery

	other := newFleet2(f)
	f.refused(other.invited(other.laptop, noon), noon, space.ErrNoSpace)
}

// noKeysFor looks that only machines and the recovery code have keys in the store, each one an epoch.
func (f fleet) noKeysFor(s *space.Space, machines int) {
	f.Helper()
	keys := 0
	for key := range f.engine.Now() {
		if strings.Contains(string(key), "/key/") && strings.HasPrefix(string(key), s.ID().String()) {
			keys++
		}
	}
	if keys != machines+1 {
		f.Errorf("keys are laid for %d holders, want %d machines and the recovery code", keys, machines)
	}
}

// another is a space on a store of its own.
type another struct {
	fleet
	laptop *space.Space
}

func newFleet2(f fleet) another {
	a := another{fleet: fleet{f.T, storetest.NewMemory()}}
	a.laptop, _ = a.created()
	return a
}

// TestRacesForAnInvitation: of machines that use one invitation at once one enters.
func TestRacesForAnInvitation(t *testing.T) {
	f := newFleet(t)
	laptop, _ := f.created()
	code := f.invited(laptop, noon)
	errs := make(chan error)
	for range 8 {
		dir := t.TempDir()
		go func() {
			_, err := space.Enter(context.Background(), dir, f.connect(), code, "desktop", "", noon)
			errs <- err
		}()
	}
	in := 0
	for range 8 {
		switch err := <-errs; {
		case err == nil:
			in++
		case !errors.Is(err, space.ErrUsed) && !errors.Is(err, space.ErrNoKey):
			t.Errorf("refused with %v", err)
		}
	}
	f.refresh(laptop, nil)
	if in != 1 || len(names(laptop)) != 2 {
		t.Errorf("%d entered, %v are in", in, names(laptop))
	}
}

// TestRecovery: all machines are lost, and the code shown at the beginning opens the space.
func TestRecovery(t *testing.T) {
	f := newFleet(t)
	laptop, recovery := f.created()
	if parsed, err := space.ParseCode(recovery.String()); err != nil || parsed != recovery {
		t.Fatalf("parsed %v, %v", parsed, err)
	}
	desktop := f.entered(f.invited(laptop, noon), "desktop", noon)
	if err := laptop.Revoke(t.Context(), desktop.Self(), nil, noon); err != nil {
		t.Fatal(err)
	}
	found := f.entered(recovery, "new", noon.Add(9000*time.Hour))
	for epoch := uint32(1); epoch <= 2; epoch++ {
		want, err := laptop.EpochKey(epoch)
		got, gotErr := found.EpochKey(epoch)
		if err != nil || gotErr != nil || got != want {
			t.Errorf("epoch %d: %v, %v", epoch, err, gotErr)
		}
	}
}

// TestRevoke: who is revoked gets no later key, nobody enters by an invitation of before, and of its log what was read is believed.
func TestRevoke(t *testing.T) {
	f := newFleet(t)
	laptop, _ := f.created()
	desktop := f.entered(f.invited(laptop, noon), "desktop", noon)
	server := f.entered(f.invited(desktop, noon), "server", noon)
	stolen := f.invited(desktop, noon)
	f.refresh(laptop, nil)
	log := events.LogID{1}
	if err := laptop.Revoke(t.Context(), desktop.Self(), []space.Feed{{Log: log, Last: 7}}, noon); err != nil {
		t.Fatal(err)
	}
	f.refresh(desktop, space.ErrRevoked)
	f.refresh(server, nil)
	f.refused(stolen, noon, space.ErrExpired)
	if f.key(laptop) != f.key(server) {
		t.Error("the others have not one key")
	}
	first, err := desktop.EpochKey(1)
	if second, secondErr := desktop.EpochKey(2); err != nil || !errors.Is(secondErr, space.ErrNoKey) || first == f.key(server) {
		t.Errorf("the revoked machine has key %x, %v", second, err)
	}
	m := server.Manifest()
	for at, want := range map[events.Position]bool{7: true, 8: false} {
		if m.Accepts(desktop.Self(), log, at) != want || m.Accepts(desktop.Self(), events.LogID{2}, at) || !m.Accepts(laptop.Self(), log, at) {
			t.Errorf("position %d: believed %v, want %v", at, !want, want)
		}
	}
	if m.Accepts(space.MemberID{1}, log, 1) {
		t.Error("a stranger is believed")
	}
	if err := laptop.Revoke(t.Context(), desktop.Self(), nil, noon); !errors.Is(err, space.ErrNoMachine) {
		t.Errorf("revoked twice: %v", err)
	}
	if _, err := desktop.Invite(t.Context(), "x", "", noon); !errors.Is(err, space.ErrRevoked) {
		t.Errorf("the revoked machine invites: %v", err)
	}
}

// TestLeave: a machine that left may enter again, by a new invitation and with the key that it has.
func TestLeave(t *testing.T) {
	f := newFleet(t)
	laptop, _ := f.created()
	dir := t.TempDir()
	desktop, err := space.Enter(t.Context(), dir, f.connect(), f.invited(laptop, noon), "desktop", "", noon)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := space.Enter(t.Context(), dir, f.connect(), f.invited(laptop, noon), "desktop", "", noon); !errors.Is(err, space.ErrMember) {
		t.Errorf("entered twice: %v", err)
	}
	if _, _, err := space.Create(t.Context(), dir, f.connect(), "desktop", noon); !errors.Is(err, space.ErrMember) {
		t.Errorf("made a second space: %v", err)
	}
	for range 2 {
		if err := desktop.Leave(t.Context(), noon); err != nil {
			t.Fatal(err)
		}
	}
	if err := space.Forget(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := space.Open(dir, f.connect()); !errors.Is(err, space.ErrNone) {
		t.Errorf("opened what was left: %v", err)
	}
	f.refresh(laptop, nil)
	if diff := cmp.Diff([]string{"laptop"}, names(laptop)); diff != "" {
		t.Error(diff)
	}
	again, err := space.Enter(t.Context(), dir, f.connect(), f.invited(laptop, noon), "tower", "", noon)
	if err != nil || again.Self() != desktop.Self() {
		t.Fatalf("entered again: %v", err)
	}
	f.refresh(laptop, nil)
	if diff := cmp.Diff([]string{"laptop", "tower"}, names(laptop)); diff != "" {
		t.Error(diff)
	}
}

// TestOpen: what was known is known after a restart, without the store.
func TestOpen(t *testing.T) {
	f := newFleet(t)
	dir := t.TempDir()
	laptop, _, err := space.Create(t.Context(), dir, f.connect(), "laptop", noon)
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"device.key": 0o600, "space": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	cut := f.connect()
	cut.Set(storetest.Faults{Cut: true})
	again, err := space.Open(dir, cut)
	if err != nil || again.Self() != laptop.Self() || f.key(again) != f.key(laptop) || len(names(again)) != 1 {
		t.Errorf("opened %v, %v", again, err)
	}
	f.refresh(again, storetest.ErrFault)
}

// TestBadFiles: what others may read or that is damaged is not used, and nothing is written over it.
func TestBadFiles(t *testing.T) {
	f := newFleet(t)
	for name, spoil := range map[string]func(path string) error{
		"device.key readable": func(dir string) error { return os.Chmod(filepath.Join(dir, "device.key"), 0o640) },
		"device.key cut":      func(dir string) error { return os.Truncate(filepath.Join(dir, "device.key"), 30) },
		"space readable":      func(dir string) error { return os.Chmod(filepath.Join(dir, "space"), 0o604) },
		"space cut":           func(dir string) error { return os.Truncate(filepath.Join(dir, "space"), 100) },
	} {
		dir := t.TempDir()
		if _, _, err := space.Create(t.Context(), dir, f.connect(), "laptop", noon); err != nil {
			t.Fatal(err)
		}
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		before := read(t, dir)
		if _, err := space.Open(dir, f.connect()); err == nil || errors.Is(err, space.ErrNone) {
			t.Errorf("%s: opened with %v", name, err)
		}
		if _, _, err := space.Create(t.Context(), dir, f.connect(), "laptop", noon); err == nil {
			t.Errorf("%s: a space was made over it", name)
		}
		if diff := cmp.Diff(before, read(t, dir)); diff != "" {
			t.Errorf("%s: changed: %s", name, diff)
		}
	}
}

func read(t *testing.T, dir string) (all []string) {
	t.Helper()
	for _, name := range []string{"device.key", "space"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(b))
	}
	return all
}

// TestHostileStore gives old manifests, other ones, and keys of its own.
func TestHostileStore(t *testing.T) {
	f := newFleet(t)
	laptop, _ := f.created()
	then := f.engine.Snapshot()
	desktop := f.entered(f.invited(laptop, noon), "desktop", noon)
	f.refresh(laptop, nil)
	now := f.engine.Snapshot()

	f.engine.Restore(then)
	f.refresh(laptop, space.ErrRolledBack)
	f.refused(space.Code{Purpose: space.Invitation, Space: laptop.ID()}, noon, space.ErrExpired)
	if len(names(laptop)) != 2 {
		t.Error("a machine is gone")
	}
	f.engine.Restore(now)
	f.refresh(laptop, nil)

	body, _, err := f.connect().Get(t.Context(), laptop.ID().ManifestKey())
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(body); i += 1 + len(body)/100 {
		b := bytes.Clone(body)
		b[i] ^= 1 << (i % 8)
		f.engine.Tamper(laptop.ID().ManifestKey(), b)
		if err := desktop.Refresh(t.Context()); !errors.Is(err, space.ErrManifest) && !errors.Is(err, space.ErrDiverged) {
			t.Errorf("byte %d: %v", i, err)
		} else if errors.Is(err, space.ErrManifest) {
			f.refresh(desktop, nil) // which put it right
		}
	}
	other := newFleet2(f)
	foreign, _, err := other.connect().Get(t.Context(), other.laptop.ID().ManifestKey())
	if err != nil {
		t.Fatal(err)
	}
	f.engine.Tamper(laptop.ID().ManifestKey(), foreign)
	f.refresh(laptop, space.ErrManifest)
	f.refresh(laptop, nil)
	f.engine.Restore(now)

	code := f.invited(laptop, noon)
	for key := range f.engine.Now() {
		if strings.Contains(string(key), "/key/") {
			f.engine.Tamper(key, bytes.Repeat([]byte{1}, 1168))
		}
	}
	f.refused(code, noon, space.ErrNoKey)
}

// TestChangedManifestIsNotBelieved by who sees it first.
func TestChangedManifestIsNotBelieved(t *testing.T) {
	f := newFleet(t)
	laptop, recovery := f.created()
	desktop := f.entered(f.invited(laptop, noon), "desktop", noon)
	if err := laptop.Revoke(t.Context(), desktop.Self(), nil, noon); err != nil {
		t.Fatal(err)
	}
	body, _, err := f.connect().Get(t.Context(), laptop.ID().ManifestKey())
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(body); i += 1 + len(body)/200 {
		b := bytes.Clone(body)
		b[i] ^= 1 << (i % 8)
		if err := space.Fold(b, laptop.ID()); !errors.Is(err, space.ErrManifest) && !errors.Is(err, space.ErrNewer) {
			t.Errorf("byte %d: %v", i, err)
		}
		if err := space.Fold(body[:i], laptop.ID()); err == nil && i > 0 {
			continue // a whole prefix is an older manifest
		} else if !errors.Is(err, space.ErrManifest) {
			t.Errorf("cut to %d: %v", i, err)
		}
	}
	f.entered(recovery, "new", noon)
}

// TestLostAnswers: whatever fails between, a call that is made again comes to what was asked, once.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		f := fleet{t, storetest.NewMemory()}
		laptop, _ := f.created()
		code := f.invited(laptop, noon)
		shaky := f.connect()
		shaky.Set(storetest.Faults{Refuse: 0.2, Lose: 0.3})
		dir := t.TempDir()
		var desktop *space.Space
		for tries := 0; desktop == nil; tries++ {
			var err error
			desktop, err = space.Enter(t.Context(), dir, shaky, code, "desktop", "", noon)
			if errors.Is(err, space.ErrMember) {
				desktop, err = space.Open(dir, shaky)
			}
			if err != nil && !errors.Is(err, storetest.ErrFault) || tries > 1000 {
				rt.Fatalf("try %d: %v", tries, err)
			}
		}
		for err := desktop.Tend(t.Context(), noon); err != nil; err = desktop.Tend(t.Context(), noon) {
			if !errors.Is(err, storetest.ErrFault) {
				rt.Fatal(err)
			}
		}
		f.refresh(laptop, nil)
		if diff := cmp.Diff([]string{"laptop", "desktop"}, names(laptop)); diff != "" {
			rt.Error(diff)
		}
		f.noKeysFor(laptop, 2)
	})
}

func TestCodes(t *testing.T) {
	t.Parallel()
	f := fleet{t, storetest.NewMemory()}
	laptop, recovery := f.created()
	code := f.invited(laptop, noon).String()
	for i := range code {
		for _, c := range "a7" {
			wrong := code[:i] + string(c) + code[i+1:]
			if wrong == code || code[i] == '-' {
				continue
			}
			if _, err := space.ParseCode(wrong); !errors.Is(err, space.ErrCode) {
				t.Errorf("character %d may be %c: %v", i, c, err)
			}
		}
	}
	for _, bad := range []string{"", "x", "1", strings.Repeat("a", 5000), recovery.String() + "a", recovery.String()[1:]} {
		if _, err := space.ParseCode(bad); !errors.Is(err, space.ErrCode) {
			t.Errorf("%.30q: %v", bad, err)
		}
	}
	if _, err := laptop.Invite(t.Context(), "x", strings.Repeat("a", 513), noon); err == nil {
		t.Error("an address of 513 bytes was taken")
	}
	if _, err := laptop.Invite(t.Context(), strings.Repeat("a", 101), "", noon); err == nil {
		t.Error("a name of 101 bytes was taken")
	}
}

func FuzzParseCode(f *testing.F) {
	f.Add("aeafaq-abcdef")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := space.ParseCode(s)
		if err == nil {
			if again, err := space.ParseCode(c.String()); err != nil || again != c {
				t.Errorf("%q is not read back: %v", c.String(), err)
			}
		}
	})
}

func FuzzManifest(f *testing.F) {
	body, id, err := space.Sample()
	if err != nil || space.Fold(body, id) != nil {
		f.Fatal(err, space.Fold(body, id))
	}
	f.Add(body)
	f.Add(body[:len(body)-1])
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := space.Fold(b, id); err == nil && !bytes.HasPrefix(body, b) {
			t.Error("another manifest passes for this space's")
		}
	})
}

// TestNames: an invitation names the machine that says no name of its own, and what keeps the store reads no name.
func TestNames(t *testing.T) {
	f := newFleet(t)
	laptop, _ := f.created()
	tower, err := space.Enter(t.Context(), t.TempDir(), f.connect(), f.invited(laptop, noon), "", "host", noon)
	if err != nil {
		t.Fatal(err)
	}
	code, err := laptop.Invite(t.Context(), "", "", noon)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := space.Enter(t.Context(), t.TempDir(), f.connect(), code, "", "by-host", noon); err != nil {
		t.Fatal(err)
	}
	f.refresh(tower, nil)
	all := []string{"laptop", "desktop", "by-host"}
	if diff := cmp.Diff(all, names(tower)); diff != "" {
		t.Error(diff)
	}
	for e, err := range store.All(t.Context(), f.connect(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		body, _, err := f.connect().Get(t.Context(), e.Key)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range all {
			if bytes.Contains(body, []byte(name)) || bytes.Contains(body, []byte(base64.StdEncoding.EncodeToString([]byte(name)))) {
				t.Errorf("%s tells the name %q", e.Key, name)
			}
		}
	}
}
