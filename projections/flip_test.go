package projections

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/files"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/projections/sessions"
	"github.com/cmemd/cmemd/testkit/follow"
	"github.com/cmemd/cmemd/testkit/race"
	"github.com/cmemd/cmemd/testkit/seeded"
)

// TestFlippedBits flips a bit of a file of views, again and again: while it was closed, before a kill, and in a key or a value
// while it is open. What is told is what was told before, or an error until the views are made anew.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	if race.Enabled { // it has the compiler put checks of pointers into bbolt
		t.Skip("pointer checks end the program at the first damaged page")
	}
	const trials = 50
	w := filled(t, 2, 40)
	dir, _ := built(t, w)
	whole := mustRead(t, filepath.Join(dir, viewsFile))
	mark := mustRead(t, filepath.Join(dir, viewsMark))
	clean := mustOpen(t, dir, w.log, engine.Config{BootID: "b"})
	want, err := told(t, clean)
	if err != nil {
		t.Fatal(err)
	}
	entries := entryBytes(whole)
	rng := seeded.New(t)
	for n := range trials {
		at := rng.IntN(len(whole))
		if n%3 == 2 {
			at = entries[rng.IntN(len(entries))]
		}
		flipped := bytes.Clone(whole)
		flipped[at] ^= 1 << rng.IntN(8)
		dir := t.TempDir()
		mustWrite(t, filepath.Join(dir, viewsFile), flipped)
		how := "closed"
		switch n % 3 {
		case 0:
			mustWrite(t, filepath.Join(dir, viewsMark), mark)
		case 1:
			how = "killed"
			mustWrite(t, filepath.Join(dir, viewsMark), []byte(viewsMarked+"b"))
		case 2:
			how = "open" // as if nothing had been looked at when it was opened
			vouch(t, dir)
		}
		checkFlipped(t, w, dir, want, fmt.Sprintf("%s, byte %d from %02x to %02x", how, at, whole[at], flipped[at]))
	}
}

// checkFlipped checks what the views in dir tell, and that they tell all of it once they are mended.
func checkFlipped(t *testing.T, w *world, dir string, want []string, what string) {
	t.Helper()
	v, err := Open(dir, w.log, engine.Config{BootID: "b"})
	if err != nil {
		t.Fatalf("%s: open: %v", what, err)
	}
	defer v.Close()
	rebuilding := v.Position() == 0
	got, err := told(t, v)
	if !rebuilding && err == nil && !cmp.Equal(want, got) {
		t.Errorf("%s: told otherwise, and nothing was noticed:\n%s", what, cmp.Diff(want, got))
	}
	if err != nil && !errors.Is(err, engine.ErrDamaged) {
		t.Errorf("%s: got %v", what, err)
	}
	if err != nil {
		stop := follow.Run(t, v)
		for range 1000 { // Run was told, and makes them anew
			if _, err = told(t, v); err == nil && v.Position() > 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if err := errors.Join(err, stop()); err != nil {
			t.Errorf("%s: not mended: %v", what, err)
		}
	}
	follow.MustCatchUp(t, v)
	if got, err = told(t, v); err != nil || !cmp.Equal(want, got) {
		t.Errorf("%s: after it was mended: %v\n%s", what, err, cmp.Diff(want, got))
	}
}

// told is what views answer, in lines: each stored value by its key, and what is read along lists.
func told(t testing.TB, v *Views) (lines []string, err error) {
	t.Helper()
	ctx := t.Context()
	add := func(what any, e error) {
		lines, err = append(lines, fmt.Sprintf("%+v", what)), errors.Join(err, e)
	}
	for _, name := range v.Names() {
		seen, e := v.Inspect(ctx, name, "", 1<<20)
		add(seen.Entries, e)
	}
	recent, e := v.Recent(ctx, rows.RecentFilter{Limit: 1000})
	add(recent, e)
	for _, r := range recent {
		add(v.Row(ctx, r.ID))
	}
	add(v.Sessions(ctx, sessions.Filter{}))
	add(v.Files(ctx, files.Filter{Limit: 1000}))
	add(v.Outcomes(ctx, outcomes.Filter{Limit: 1000}))
	add(v.Balance(ctx))
	return lines, err
}

// entryBytes are the places of the bytes of keys and values of a bbolt file.
func entryBytes(b []byte) (places []int) {
	page := os.Getpagesize()
	for at := 2 * page; at < len(b); at += page {
		if binary.NativeEndian.Uint16(b[at+8:]) != boltLeaf {
			continue
		}
		for i := range int(binary.NativeEndian.Uint16(b[at+10:])) {
			e := at + boltHeader + 16*i
			if binary.NativeEndian.Uint32(b[e:])&boltBucket != 0 {
				continue
			}
			from := e + int(binary.NativeEndian.Uint32(b[e+4:]))
			size := int(binary.NativeEndian.Uint32(b[e+8:]) + binary.NativeEndian.Uint32(b[e+12:]))
			for n := range size {
				places = append(places, from+n)
			}
		}
	}
	return places
}

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustWrite(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
