package seal

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestRingRenews(t *testing.T) {
	t.Parallel()
	r := NewRing(filepath.Join(t.TempDir(), "keys"))
	if _, err := r.Current(); !errors.Is(err, ErrNoKey) {
		t.Errorf("before the first key: %v, want ErrNoKey", err)
	}
	first := renewed(t, r, noon)
	if again := renewed(t, r, noon.Add(23*time.Hour)); again != first {
		t.Errorf("renewed before its age: %s, want %s", again, first)
	}
	if next := renewed(t, r, noon.Add(24*time.Hour)); next == first {
		t.Error("not renewed at its age")
	}
	if next := renewed(t, r, noon.Add(-48*time.Hour)); next == first {
		t.Error("a key of days ahead of the clock was kept")
	}
}

// TestRingOpensWhatWasSealedBefore keeps the private halves of keys that were replaced.
func TestRingOpensWhatWasSealedBefore(t *testing.T) {
	t.Parallel()
	r := NewRing(t.TempDir())
	id, sealed := sealedNow(t, r, noon)
	renewed(t, r, noon.Add(48*time.Hour))
	if text, err := r.Open(id, []byte("h"), sealed); err != nil || string(text) != "text" {
		t.Errorf("opened %q, %v", text, err)
	}
	if _, err := r.Open("0123456789abcdef", []byte("h"), sealed); !errors.Is(err, ErrLostKey) {
		t.Errorf("of a key that never was: %v", err)
	}
	if _, err := r.Open("../../etc/passwd", nil, nil); !errors.Is(err, ErrLostKey) {
		t.Errorf("of a path: %v", err)
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	r := NewRing(t.TempDir())
	first := renewed(t, r, noon)
	second := renewed(t, r, noon.Add(24*time.Hour))
	steps := []struct {
		at   time.Duration // after noon
		used []string
		want []string
	}{
		{at: 47 * time.Hour},
		{at: 48 * time.Hour, used: []string{first}},
		{at: 49 * time.Hour, want: []string{first}},
		{at: 900 * time.Hour},
	}
	for _, s := range steps {
		got, err := r.Prune(noon.Add(s.at), func(id string) (bool, error) { return slices.Contains(s.used, id), nil })
		if err != nil || !slices.Equal(got, s.want) {
			t.Errorf("after %v, with %v in use: deleted %v, %v; want %v", s.at, s.used, got, err, s.want)
		}
	}
	if now, err := r.Current(); err != nil || now.ID() != second {
		t.Errorf("present %v, want %s", err, second)
	}
}

// TestClockSetBack by a year: a new key is made at once, and the one before goes a day after it, not a year.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	r := NewRing(t.TempDir())
	const year = 365 * 24 * time.Hour
	ahead, sealed := sealedNow(t, r, noon.Add(year))
	first := renewed(t, r, noon)
	if first == ahead {
		t.Fatal("the key of next year is still the present one")
	}
	unused := func(string) (bool, error) { return false, nil }
	for _, after := range []time.Duration{0, Grace - time.Second, Grace} {
		if _, err := r.Open(ahead, []byte("h"), sealed); err != nil {
			t.Errorf("before %v have passed: %v", after, err)
		}
		renewed(t, r, noon.Add(after))
		deleted, err := r.Prune(noon.Add(after), unused)
		if err != nil || slices.Contains(deleted, ahead) != (after == Grace) {
			t.Errorf("after %v: deleted %v, %v", after, deleted, err)
		}
	}
}

// TestPruneStops where it cannot be told what is still needed.
func TestPruneStops(t *testing.T) {
	t.Parallel()
	r := NewRing(t.TempDir())
	id, sealed := sealedNow(t, r, noon)
	renewed(t, r, noon.Add(24*time.Hour))
	broken := errors.New("cannot be read")
	if _, err := r.Prune(noon.Add(99*time.Hour), func(string) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, presentFile), []byte("cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	if deleted, err := r.Prune(noon.Add(99*time.Hour), func(string) (bool, error) { return false, nil }); err == nil || len(deleted) > 0 {
		t.Errorf("without a present key: deleted %v, %v", deleted, err)
	}
	if _, err := r.Open(id, []byte("h"), sealed); err != nil {
		t.Error(err)
	}
}

// TestKeysOfOthers are not sealed to.
func TestKeysOfOthers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no Unix rights")
	}
	for name, spoil := range map[string]func(r Ring) error{
		"a folder that anybody may write":  func(r Ring) error { return os.Chmod(r.dir, 0o777) },
		"a key that its group may write":   func(r Ring) error { return os.Chmod(filepath.Join(r.dir, presentFile), 0o660) },
		"a key that is cut":                func(r Ring) error { return os.Truncate(filepath.Join(r.dir, presentFile), 40) },
		"an empty key":                     func(r Ring) error { return os.Truncate(filepath.Join(r.dir, presentFile), 0) },
		"a link to another key":            relink,
		"a second name of another's key":   func(r Ring) error { return os.Link(filepath.Join(r.dir, presentFile), filepath.Join(r.dir, "second")) },
		"a folder in the place of the key": inItsPlace,
		"a million bytes":                  func(r Ring) error { return os.Truncate(filepath.Join(r.dir, presentFile), 1_000_000) },
		"another user's key":               func(r Ring) error { return os.Chown(filepath.Join(r.dir, presentFile), 12345, 0) },
		"another user's folder":            func(r Ring) error { return os.Chown(r.dir, 12345, 0) },
	} {
		r := NewRing(filepath.Join(t.TempDir(), "keys"))
		renewed(t, r, noon)
		if err := spoil(r); errors.Is(err, fs.ErrPermission) {
			continue // only root gives files away
		} else if err != nil {
			t.Fatal(err)
		}
		if key, err := r.Current(); err == nil || errors.Is(err, ErrNoKey) {
			t.Errorf("%s: got key %v, %v; want another error", name, key.key != nil, err)
		}
	}
}

// TestPrivateHalvesOfOthers are lost, whatever they hold. In a folder that is open to others nothing is lost for good, and no key
// is laid.
func TestPrivateHalvesOfOthers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no Unix rights")
	}
	for name, c := range map[string]struct {
		spoil func(path string) error
		lost  bool
	}{
		"gone":                        {os.Remove, true},
		"cut":                         {func(path string) error { return os.Truncate(path, 40) }, true},
		"empty":                       {func(path string) error { return os.Truncate(path, 0) }, true},
		"a million bytes":             {func(path string) error { return os.Truncate(path, 1_000_000) }, true},
		"a link":                      {func(path string) error { return errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path)) }, true},
		"two names":                   {func(path string) error { return os.Link(path, path+"2") }, true},
		"its group may write":         {func(path string) error { return os.Chmod(path, 0o660) }, true},
		"another user's":              {func(path string) error { return os.Chown(path, 12345, 0) }, true},
		"in a folder open to others":  {func(path string) error { return os.Chmod(filepath.Dir(path), 0o777) }, false},
		"in another user's folder":    {func(path string) error { return os.Chown(filepath.Dir(path), 12345, 0) }, false},
		"lost in a folder of another": {func(path string) error { return errors.Join(os.Remove(path), os.Chown(filepath.Dir(path), 12345, 0)) }, false},
	} {
		r := NewRing(filepath.Join(t.TempDir(), "keys"))
		id, sealed := sealedNow(t, r, noon)
		if err := c.spoil(filepath.Join(r.dir, id+privateEnd)); errors.Is(err, fs.ErrPermission) {
			continue // only root gives files away
		} else if err != nil {
			t.Fatal(err)
		}
		if text, err := r.Open(id, []byte("h"), sealed); err == nil || errors.Is(err, ErrLostKey) != c.lost {
			t.Errorf("%s: opened %q, %v; lost: want %v", name, text, err, c.lost)
		}
		if err := r.Renew(noon, 24*time.Hour); (err == nil) != c.lost {
			t.Errorf("%s: renewed: %v", name, err)
		}
		if next, err := r.Current(); c.lost && (err != nil || next.ID() == id) {
			t.Errorf("%s: present %v, %v; want another key", name, next, err)
		}
	}
}

// relink puts a link to a planted key in the place of the present one.
func relink(r Ring) error {
	path, planted := filepath.Join(r.dir, presentFile), filepath.Join(r.dir, "planted")
	return errors.Join(os.Rename(path, planted), os.Symlink(planted, path))
}

func inItsPlace(r Ring) error {
	path := filepath.Join(r.dir, presentFile)
	return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
}

// TestRenewAfterAKill has the private half alone, as a kill between the two steps leaves it, or the public half alone.
func TestRenewAfterAKill(t *testing.T) {
	t.Parallel()
	r := NewRing(t.TempDir())
	before, sealed := sealedNow(t, r, noon)
	key := mustKey(t)
	orphan := pair{id: key.Public().ID(), made: noon.Add(24 * time.Hour), key: key}
	secret, err := key.bytes()
	if err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("%s %s\n", hex.EncodeToString(secret), orphan.made.Format(time.RFC3339))
	if err := os.WriteFile(filepath.Join(r.dir, orphan.id+privateEnd), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	if now, err := r.Current(); err != nil || now.ID() != before {
		t.Errorf("present %v, want the key before", err)
	}
	third := renewed(t, r, noon.Add(25*time.Hour))
	deleted, err := r.Prune(noon.Add(99*time.Hour), func(id string) (bool, error) { return id == before, nil })
	if err != nil || !slices.Equal(deleted, []string{orphan.id}) {
		t.Errorf("deleted %v, %v; want the half that nothing was ever sealed to", deleted, err)
	}
	if _, err := r.Open(before, []byte("h"), sealed); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(r.dir, third+privateEnd)); err != nil {
		t.Fatal(err)
	}
	if fourth := renewed(t, r, noon.Add(26*time.Hour)); fourth == third {
		t.Error("a public half without a private one was kept")
	}
}

// TestRandomLivesOfARing: whatever is renewed and pruned, with clocks that jump, what is in use can be opened.
func TestRandomLivesOfARing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		r, now, waiting := NewRing(dir), noon, map[string][]byte{}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(-50, 60).Draw(rt, "hours")) * time.Hour)
			if err := r.Renew(now, 24*time.Hour); err != nil {
				rt.Fatal(err)
			}
			key, err := r.Current()
			if err != nil {
				rt.Fatal(err)
			}
			if rapid.Bool().Draw(rt, "something is sealed") {
				if waiting[key.ID()], err = key.Seal(nil, []byte(key.ID())); err != nil {
					rt.Fatal(err)
				}
			}
			if rapid.Bool().Draw(rt, "all is drained") {
				clear(waiting)
			}
			if _, err := r.Prune(now, func(id string) (bool, error) { return waiting[id] != nil, nil }); err != nil {
				rt.Fatal(err)
			}
			for id, sealed := range waiting {
				if text, err := r.Open(id, nil, sealed); err != nil || string(text) != id {
					rt.Fatalf("sealed to %s: %q, %v", id, text, err)
				}
			}
		}
	})
}

func FuzzKeyFiles(f *testing.F) {
	key := mustKey(f)
	secret, err := key.bytes()
	if err != nil {
		f.Fatal(err)
	}
	id := key.Public().ID()
	f.Add(hex.EncodeToString(key.Public().Bytes())+"\n", hex.EncodeToString(secret)+" 2026-03-01T12:00:00Z\n")
	f.Add("", " ")
	f.Add(strings.Repeat("f", 64), strings.Repeat("0", 64))
	f.Fuzz(func(t *testing.T, public, private string) {
		dir := t.TempDir()
		if err := errors.Join(os.WriteFile(filepath.Join(dir, presentFile), []byte(public), 0o600), os.WriteFile(filepath.Join(dir, id+privateEnd), []byte(private), 0o600)); err != nil {
			t.Fatal(err)
		}
		if key, err := readPublic(dir); err == nil && len(key.Bytes()) != keySize {
			t.Errorf("read a key of %d bytes", len(key.Bytes()))
		}
		if p, err := readPrivate(dir, id); err == nil && p.key.Public().ID() != id {
			t.Errorf("read the key %s in the file of %s", p.key.Public().ID(), id)
		}
	})
}

func renewed(t *testing.T, r Ring, now time.Time) (id string) {
	t.Helper()
	if err := r.Renew(now, 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	key, err := r.Current()
	if err != nil {
		t.Fatal(err)
	}
	return key.ID()
}

func sealedNow(t *testing.T, r Ring, now time.Time) (id string, sealed []byte) {
	t.Helper()
	id = renewed(t, r, now)
	key, err := r.Current()
	if err == nil {
		sealed, err = key.Seal([]byte("h"), []byte("text"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return id, sealed
}
