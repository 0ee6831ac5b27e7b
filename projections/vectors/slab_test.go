package vectors

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
)

// slabOf makes a file of n rows at a path and closes it.
func slabOf(tb testing.TB, path string, n, dims int) []made {
	tb.Helper()
	s, _, err := openSlab(path, "m")
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.create(dims); err != nil {
		tb.Fatal(err)
	}
	rows := make([]made, n)
	for i := range rows {
		v := hashed(string(rune('a'+i%26))+" x", dims)
		unit(v)
		rows[i] = made{rowRef{id: uuid.Must(uuid.NewV7()), position: events.Position(10 * (i + 1)), chain: [8]byte{byte(i), 7}}, v}
	}
	if err := s.append(rows); err != nil {
		tb.Fatal(err)
	}
	if err := s.close(); err != nil {
		tb.Fatal(err)
	}
	return rows
}

// TestTornEnd cuts a file anywhere, as a crash may: what is whole is kept, and what is not is gone.
func TestTornEnd(t *testing.T) {
	t.Parallel()
	const n, dims = 9, 6
	path := filepath.Join(t.TempDir(), "v")
	rows := slabOf(t, path, n, dims)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole[cleanAt] = 0
	for size := range len(whole) + 1 {
		cut := filepath.Join(t.TempDir(), "v")
		if err := os.WriteFile(cut, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		s, _, err := openSlab(cut, "m")
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		want := max(0, size-headerSize) / rowSize(dims)
		if s.count != want {
			t.Errorf("%d bytes: got %d rows, want %d", size, s.count, want)
		}
		if last, ok := s.last(); ok && last.position != rows[want-1].position {
			t.Errorf("%d bytes: the last row is of %d, want %d", size, last.position, rows[want-1].position)
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFlippedBits has one byte changed: no row that is kept differs from what was written.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	const n, dims = 5, 4
	path := filepath.Join(t.TempDir(), "v")
	rows := slabOf(t, path, n, dims)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole[cleanAt] = 0
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		at, bit := rapid.IntRange(0, len(whole)-1).Draw(t, "at"), rapid.IntRange(0, 7).Draw(t, "bit")
		b := bytes.Clone(whole)
		b[at] ^= 1 << bit
		path := filepath.Join(dir, "v")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, _, err := openSlab(path, "m")
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.count {
			r := decodeHead(s.row(i))
			if r.id != rows[i].id || r.position != rows[i].position || dot(vectorOf(s.row(i)), rows[i].vector) < 0.9999 {
				t.Errorf("row %d is kept, and is not what was written", i)
			}
		}
		if want := keptOf(at, n, dims); s.count != want && at != cleanAt {
			t.Errorf("byte %d changed: %d rows are kept, want %d", at, s.count, want)
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
	})
}

// keptOf is how many of n rows stand before the change of one byte of a file.
func keptOf(at, n, dims int) int {
	in := (at - headerSize) % rowSize(dims)
	switch {
	case at < 504: // the header and its checksum
		return 0
	case at < headerSize, in >= 44 && in < rowHead: // nothing is there
		return n
	}
	return (at - headerSize) / rowSize(dims)
}

// TestOtherFiles: a file that is not ours, of another model or of another format is begun anew, and says so.
func TestOtherFiles(t *testing.T) {
	t.Parallel()
	header := func(change func([]byte)) []byte {
		b := encodeHeader("m", 4)
		change(b)
		binary.LittleEndian.PutUint32(b[500:], castagnoli(b[:500]))
		return b
	}
	for name, data := range map[string][]byte{
		"empty":        {},
		"text":         bytes.Repeat([]byte("no vectors here "), 100),
		"newer":        header(func(b []byte) { b[8] = format + 1 }),
		"byte order":   header(func(b []byte) { b[12], b[15] = b[15], b[12] }),
		"model":        encodeHeader("other", 4),
		"no dimension": header(func(b []byte) { b[16] = 0 }),
		"huge":         header(func(b []byte) { b[19] = 0xff }),
		"long name":    header(func(b []byte) { b[21] = 0xff }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "v")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			s, why, err := openSlab(path, "m")
			if err != nil || why == "" || s.count != 0 {
				t.Fatalf("got %d rows, %q, %v, want none and a reason", s.count, why, err)
			}
			if _, err := os.Stat(path); !os.IsNotExist(err) {
				t.Errorf("the file is still there: %v", err)
			}
		})
	}
}

// TestHalfForgotten: a crash between the head and the vector of a row that is being zeroed leaves a dead row, not a torn file.
func TestHalfForgotten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "v")
	rows := slabOf(t, path, 5, 8)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[cleanAt] = 0
	row := b[headerSize+2*rowSize(8):]
	encodeHead(row, rowRef{position: rows[2].position, state: stateDead}, 0)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s, why, err := openSlab(path, "m")
	if err != nil || why != "" || s.count != 5 || s.dead != 1 {
		t.Fatalf("got %d rows, %d dead, %q, %v; want 5, 1", s.count, s.dead, why, err)
	}
	if err := s.compact(); err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	half := b[headerSize+2*rowSize(8)+rowHead:][:32]
	if bytes.Contains(after, half) || len(after) != headerSize+4*rowSize(8) {
		t.Errorf("the vector is in the file still, or %d bytes are not those of 4 rows", len(after))
	}
}

// TestNearestIsExact holds what is found to a comparison with everything.
func TestNearestIsExact(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "v")
	s, _, err := openSlab(path, "m")
	if err != nil {
		t.Fatal(err)
	}
	const dims = 13 // no multiple of eight
	if err := s.create(dims); err != nil {
		t.Fatal(err)
	}
	defer s.close()
	rapid.Check(t, func(t *rapid.T) {
		if err := s.reset(); err != nil {
			t.Fatal(err)
		}
		if err := s.create(dims); err != nil {
			t.Fatal(err)
		}
		n, k := rapid.IntRange(0, 40).Draw(t, "n"), rapid.IntRange(1, 12).Draw(t, "k")
		coordinate := rapid.Float32Range(-1, 1)
		vector := func() []float32 {
			v := rapid.SliceOfN(coordinate, dims, dims).Draw(t, "vector")
			v[0] += 3 // never zero
			unit(v)
			return v
		}
		var rows []made
		var only []events.Position
		all := best{k: k}
		for i := range n {
			rows = append(rows, made{rowRef{id: events.ID{15: byte(i)}, position: events.Position(i + 1)}, vector()})
		}
		if err := s.append(rows); err != nil {
			t.Fatal(err)
		}
		question, some := vector(), rapid.Bool().Draw(t, "some")
		if some {
			only = []events.Position{0}
		}
		for i, r := range rows {
			if some && i%3 != 0 {
				continue
			}
			if some {
				only = append(only, r.position)
			}
			want := 0.0
			for d := range dims {
				want += float64(question[d]) * float64(r.vector[d])
			}
			all.add(Hit{r.id, want})
		}
		got, _, err := s.nearest(question, only, k)
		if err != nil || len(got) != len(all.hits) {
			t.Fatalf("got %d hits, %v, want %d", len(got), err, len(all.hits))
		}
		for i, h := range got {
			if diff := h.Score - all.hits[i].Score; diff > 1e-5 || diff < -1e-5 {
				t.Errorf("hit %d scores %f, want %f", i, h.Score, all.hits[i].Score)
			}
		}
	})
}

// FuzzOpen: whatever a file holds, it is opened or begun anew.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "v")
	slabOf(f, path, 3, 2)
	b, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:headerSize+5])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "v")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, _, err := openSlab(path, "m")
		if err != nil {
			t.Fatal(err)
		}
		if s.count > 0 {
			if _, _, err := s.nearest(make([]float32, s.dims), nil, 3); err != nil {
				t.Error(err)
			}
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
}
