package spool

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestSpoolRescues brings what is whole in tmp, removes the rest, and leaves both alone while a hook may be writing: of sealed
// files, and of those that hooks of earlier releases left.
func TestSpoolRescues(t *testing.T) {
	t.Parallel()
	for _, sealed := range []bool{false, true} {
		rescues(t, sealed)
	}
}

func rescues(t *testing.T, sealed bool) {
	t.Helper()
	s := keyed(t, t.TempDir())
	packed := func(e Entry) file { return file{name: entryName(e), parts: [][]byte{appendHeader(nil, e), e.Body}} }
	tmp := s.in("tmp")
	if sealed {
		tmp = s.tmp()
		packed = func(e Entry) file {
			f, _ := s.sealer.pack(e)
			return f
		}
	}
	if rescued, removed, err := s.Rescue(time.Now()); rescued+removed != 0 || err != nil {
		t.Fatalf("Rescue of nothing = %d, %d, %v", rescued, removed, err)
	}
	if err := s.makeFolders(); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	whole, other := testEntry(`{"a":1}`), testEntry(`{"b":2}`)
	stored := packed(whole)
	text := bytes.Join(stored.parts, nil)
	for name, f := range map[string]struct {
		data []byte
		age  time.Duration
	}{
		"whole":  {text, staleTmp},
		"cut":    {text[:len(text)-1], staleTmp},
		"head":   {text[:20], staleTmp},
		"empty":  {nil, staleTmp},
		"young":  {bytes.Join(packed(other).parts, nil), staleTmp - time.Second},
		"ahead":  {nil, -time.Second},
		"future": {nil, -8760 * time.Hour}, // its clock was a year ahead
	} {
		path := filepath.Join(tmp, name)
		if err := os.WriteFile(path, f.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-f.age), now.Add(-f.age)); err != nil {
			t.Fatal(err)
		}
	}
	if rescued, removed, err := s.Rescue(now); rescued != 1 || removed != 4 || err != nil {
		t.Errorf("Rescue = %d, %d, %v; want 1 and 4", rescued, removed, err)
	}
	var left []string
	files, err := os.ReadDir(tmp)
	for _, f := range files {
		if !f.IsDir() {
			left = append(left, f.Name())
		}
	}
	if want := []string{"ahead", "young"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left %v, %v; want %v", left, err, want)
	}
	whole.Name = stored.name
	if got, err := s.Read(whole.Name); err != nil || !cmp.Equal(got, whole) {
		t.Errorf("rescued %+v, %v; want %+v", got, err, whole)
	}
}

// TestRescuedUnderTheHook covers a hook that stood still while it wrote: its file was rescued if it was whole, and removed if it
// was half. In both cases its entry is there once.
func TestRescuedUnderTheHook(t *testing.T) {
	t.Parallel()
	for _, cut := range []int64{0, 1} {
		s := keyed(t, t.TempDir())
		writes := 0
		s.Written = func() {
			if writes++; writes > 1 {
				return
			}
			files, err := filepath.Glob(filepath.Join(s.tmp(), "*"))
			if err != nil || len(files) != 1 {
				t.Fatalf("in tmp: %v, %v", files, err)
			}
			info, err := os.Stat(files[0])
			if err == nil {
				err = os.Truncate(files[0], info.Size()-cut)
			}
			rescued, removed, rescueErr := s.Rescue(time.Now().Add(2 * staleTmp))
			if err != nil || rescueErr != nil || rescued != 1-int(cut) || removed != int(cut) {
				t.Errorf("cut by %d: Rescue = %d, %d, %v, %v", cut, rescued, removed, err, rescueErr)
			}
		}
		e := mustPut(t, s, testEntry(`{"a":1}`))
		if got, err := s.Read(e.Name); err != nil || !cmp.Equal(got, e) || len(mustNames(t, s)) != 1 {
			t.Errorf("cut by %d: read %+v, %v, of %v; want %+v", cut, got, err, mustNames(t, s), e)
		}
	}
}

// TestSpoolRescuesIntoAMissingFolder covers a spool whose maker was killed between tmp and new.
func TestSpoolRescuesIntoAMissingFolder(t *testing.T) {
	t.Parallel()
	s := keyed(t, t.TempDir())
	e := mustPut(t, s, testEntry(`{"a":1}`))
	if err := os.Rename(s.path(e.Name), filepath.Join(s.dir, "tmp", e.Delivery)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.dir, "new")); err != nil {
		t.Fatal(err)
	}
	rescued, removed, err := s.Rescue(time.Now().Add(2 * staleTmp))
	if names := mustNames(t, s); rescued != 1 || removed != 0 || err != nil || !slices.Equal(names, []string{e.Name}) {
		t.Errorf("Rescue = %d, %d, %v; in new: %v; want %s", rescued, removed, err, names, e.Name)
	}
}
