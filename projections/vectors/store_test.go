package vectors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/iotest"

	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

func storeAt(tb testing.TB, path string) *store {
	tb.Helper()
	s, _, err := openStore(path, "fake-1")
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// rowsIn are copies of all rows of a file, in their order.
func rowsIn(tb testing.TB, s *store) (rows []row) {
	tb.Helper()
	err := s.view(func(blocks *bolt.Bucket, st state) error {
		for _, b := range blocksOf(blocks, st.Dims) {
			for _, r := range b.rows() {
				r.vector = slices.Clone(r.vector)
				rows = append(rows, r)
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return rows
}

// someRows are n rows of a number of dimensions.
func someRows(n, dims int) (rows []row) {
	for i := range n {
		v := hashed(string(rune('a'+i%26))+" x", dims)
		unit(v)
		rows = append(rows, row{rowRef{id: events.ID{0: 0xAB, 15: byte(i + 1)}, position: events.Position(10 * (i + 1)), chain: [8]byte{byte(i), 7}}, v})
	}
	return rows
}

// version1 is a file that cmemd wrote at b68bbbc: six rows of six dimensions, of which the second was forgotten and the third
// refused.
func version1(tb testing.TB) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "version1"))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// openBytes opens a file of the given content.
func openBytes(tb testing.TB, data []byte) (s *store, why string) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "v")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	s, why, err := openStore(path, "fake-1")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.close(); err != nil {
			tb.Error(err)
		}
		if left, err := filepath.Glob(path + ".*"); len(left) > 0 || err != nil {
			tb.Errorf("%v stays behind, %v", left, err)
		}
	})
	return s, why
}

// isAsMade fails if a row that is kept is not one of those that were made.
func isAsMade(tb rapid.TB, kept, made []row) {
	for _, r := range kept {
		i := slices.IndexFunc(made, func(m row) bool { return m.id == r.id })
		if i < 0 || r.position != made[i].position || r.vector != nil && !slices.Equal(r.vector, made[i].vector) {
			tb.Errorf("row %s at %d is kept, and is not what was written", r.id, r.position)
		}
	}
}

// TestVersion1: an earlier file's rows are taken over, those that are whole where it was cut, and the log is followed from behind
// the last of them.
func TestVersion1(t *testing.T) {
	t.Parallel()
	whole, made := version1(t), someRows(6, 6)
	s, why := openBytes(t, whole)
	rows := rowsIn(t, s)
	if st := s.state; why != "" || len(rows) != 5 || st.Filled != 4 || st.Refused != 1 || st.Position != 60 || !bytes.Equal(st.Chain, made[5].chain[:]) {
		t.Fatalf("got %d rows, %q, %+v", len(rows), why, st)
	}
	isAsMade(t, rows, made)
	const size = slabRowHead + 4*6
	for n := 0; n < len(whole); n += 13 {
		s, _ := openBytes(t, whole[:n])
		want := max(0, n-slabHeader) / size
		if got := int(s.state.Position); got != 10*want {
			t.Errorf("%d bytes: taken over up to %d, want %d", n, got, 10*want)
		}
		isAsMade(t, rowsIn(t, s), made)
	}
	half := bytes.Clone(whole)
	rest := vectorBytes(made[1])[12:] // the vector of the forgotten row was half zeroed
	copy(half[slabHeader+size+slabRowHead+12:], rest)
	s, _ = openBytes(t, half)
	if b, err := os.ReadFile(s.path); err != nil || s.state.Filled != 4 || bytes.Contains(b, rest) {
		t.Errorf("half forgotten: %+v, %v, or its bytes are there still", s.state, err)
	}
	for at := 0; at < len(whole); at += 29 {
		b := bytes.Clone(whole)
		b[at] ^= 1 << (at % 8)
		s, why := openBytes(t, b)
		rows := rowsIn(t, s)
		isAsMade(t, rows, made)
		inHeader, before := at < 504, max(0, at-slabHeader)/size // its last bytes mean nothing any more
		if inHeader != (why != "") || inHeader && len(rows) > 0 || !inHeader && int(s.state.Position) < 10*before {
			t.Errorf("a bit at %d: %d rows, %q, %+v", at, len(rows), why, s.state)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Clone(whole)
		b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		in := bytes.NewReader(b[slabHeader:])
		for r, state := readSlabRow(in, 6); state != 0; r, state = readSlabRow(in, 6) {
			if state != slabDead {
				isAsMade(t, []row{r}, made)
			}
		}
	})
}

// TestVersion1Stays: an earlier file that cannot be taken over hinders nobody, and is taken over at the next start.
func TestVersion1Stays(t *testing.T) {
	t.Parallel()
	w, whole := newWorld(t), version1(t)
	w.fill(2)
	hindered := filepath.Join(w.path+".tmp.compact", "in the way")
	if err := errors.Join(os.WriteFile(w.path, whole, 0o600), os.MkdirAll(hindered, 0o700)); err != nil {
		t.Fatal(err)
	}
	v := w.open()
	if err := v.Run(t.Context()); !errors.Is(err, errKept) || v.Stats().Stopped == "" {
		t.Errorf("run: %v, %+v", err, v.Stats())
	}
	if got := v.Nearest(t.Context(), "word1", nil, 3); got.Used || got.Hits != nil {
		t.Errorf("nearest: %+v", got)
	}
	if err := v.Purge(t.Context(), 1); !errors.Is(err, errKept) {
		t.Errorf("purge: %v", err)
	}
	if err := errors.Join(v.Close(), os.RemoveAll(filepath.Dir(hindered))); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(w.path); err != nil || !bytes.Equal(b, whole) {
		t.Errorf("the file is another one, %v", err)
	}
	left := os.WriteFile(w.path+".tmp", whole, 0o600) // by a program that was killed
	s := storeAt(t, w.path)
	defer s.close()
	if more, err := filepath.Glob(w.path + ".*"); left != nil || err != nil || len(more) > 0 || s.state.Filled != 4 {
		t.Errorf("the next start: %+v, beside %v; %v", s.state, more, errors.Join(left, err))
	}
}

// TestLeftOver: what a killed program left of a file is deleted, though there is nothing to take over.
func TestLeftOver(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "v")
	if err := os.WriteFile(path+".tmp", []byte("rows"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := storeAt(t, path)
	defer s.close()
	if _, err := os.Stat(path + ".tmp"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is there still: %v", err)
	}
}

// TestUnreadableSector: a read error ends what is taken over as a torn end does; in the header nothing is known.
func TestUnreadableSector(t *testing.T) {
	t.Parallel()
	whole, path := version1(t), filepath.Join(t.TempDir(), "v")
	sector := iotest.ErrReader(errors.New("input/output error"))
	at := slabHeader + 4*(slabRowHead+4*6) + 5
	slab, copied, err := takeOver(io.MultiReader(bytes.NewReader(whole[:at]), sector), path, "fake-1")
	if !slab || !copied || err != nil {
		t.Fatalf("%t, %t, %v", slab, copied, err)
	}
	s := storeAt(t, path)
	defer s.close()
	if s.state.Position != 40 || s.state.Filled != 2 || s.state.Refused != 1 {
		t.Errorf("got %+v", s.state)
	}
	if _, _, err := takeOver(io.MultiReader(bytes.NewReader(whole[:100]), sector), path, "fake-1"); err == nil {
		t.Error("half a header is taken for a whole one")
	}
}

// fileOf stores rows a few at a time, and returns what is in the file, and how many rows a check must keep at least if a bit of it is
// changed: all before the block that it is in, all where nothing is stored any more, and maybe none in the pages that lead to the blocks.
func fileOf(t *testing.T, made []row) (whole []byte, least func(at int) int, end int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "v")
	s := storeAt(t, path)
	for list := range slices.Chunk(made, 3) {
		if err := s.append(list, list[len(list)-1].rowRef); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	type part struct{ from, to, least int }
	var parts []part
	file, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true, PreLoadFreelist: true}) // as it was read
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	err = file.View(func(tx *bolt.Tx) error {
		before, page := 0, tx.DB().Info().PageSize
		end = int(tx.Size())
		err := tx.Bucket(bucketName).Bucket(blocksName).ForEach(func(_, value []byte) error {
			for at := 0; ; at++ { // it may be in unused pages too
				next := bytes.Index(whole[at:], value)
				if next < 0 {
					break
				}
				at += next
				parts = append(parts, part{at, at + len(value), before})
			}
			before += blockOf(value, len(made[0].vector)).n
			return nil
		})
		for i := 0; err == nil && i < end/page; i++ {
			info, e := tx.Page(i)
			if err = e; e == nil && info.Type == "free" {
				parts = append(parts, part{i * page, (i + 1) * page, len(made)})
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	parts = append(parts, part{end, len(whole), len(made)})
	return whole, func(at int) int {
		if i := slices.IndexFunc(parts, func(p part) bool { return p.from <= at && at < p.to }); i >= 0 {
			return parts[i].least
		}
		return 0
	}, end
}

// checked opens a file, checks it or begins it anew, and returns how many rows it keeps. They must be as they were made.
func checked(tb rapid.TB, path string, content []byte, made []row) int {
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	s, _, err := openStore(path, "fake-1")
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := s.check(); err != nil {
		if err := s.reset(); err != nil {
			tb.Fatal(err)
		}
	}
	kept := s.state.Filled
	var rows []row
	err = s.view(func(blocks *bolt.Bucket, st state) error {
		for _, b := range blocksOf(blocks, st.Dims) {
			rows = append(rows, b.rows()...)
			isAsMade(tb, rows, made)
		}
		return nil
	})
	if err != nil || kept != len(rows) || kept > 0 && s.state.Position < rows[kept-1].position {
		tb.Errorf("%d rows are kept: %+v, %v", len(rows), s.state, err)
	}
	if err := s.close(); err != nil {
		tb.Fatal(err)
	}
	return kept
}

// TestFlippedBits has one bit changed: after a check no row that is kept differs from what was written, and none before the damage
// is lost.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	made := someRows(40, 8192) // a block has 8 rows
	whole, least, _ := fileOf(t, made)
	path := filepath.Join(t.TempDir(), "v")
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(whole)-1).Draw(t, "at")
		b := bytes.Clone(whole)
		b[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if kept := checked(t, path, b, made); kept < least(at) {
			t.Errorf("%d rows are kept, want %d at least", kept, least(at))
		}
	})
}

// TestFlippedKeys has the highest bit of a block's key changed wherever the key stands: a block that is out of order is not found by its key,
// and a check that leaves it behind would count others than there are.
func TestFlippedKeys(t *testing.T) {
	t.Parallel()
	made := someRows(40, 8192) // a block has 8 rows
	whole, _, _ := fileOf(t, made)
	path, n := filepath.Join(t.TempDir(), "v"), 0
	for first := 0; first < len(made); first += 8 {
		key := binary.BigEndian.AppendUint64(nil, uint64(made[first].position))
		for at := 0; ; at += len(key) {
			next := bytes.Index(whole[at:], key)
			if next < 0 {
				break
			}
			at += next
			b := bytes.Clone(whole)
			b[at] ^= 1 << 7
			checked(t, path, b, made)
			n++
		}
	}
	if n < 5 {
		t.Errorf("%d keys were found, want 5 at least", n)
	}
}

// TestTornEnd has the file cut at each page: what is kept is as it was written, and it is all where only room was cut off.
func TestTornEnd(t *testing.T) {
	t.Parallel()
	made := someRows(12, 1024)
	whole, _, end := fileOf(t, made)
	path := filepath.Join(t.TempDir(), "v")
	for n := 0; n <= len(whole); n += os.Getpagesize() {
		if kept := checked(t, path, whole[:n], made); n >= end && kept != len(made) {
			t.Errorf("cut to %d of %d bytes, %d used: %d rows are kept", n, len(whole), end, kept)
		}
	}
}

// TestOtherFiles: a file that is not ours, of another model or of another format is begun anew, and says so.
func TestOtherFiles(t *testing.T) {
	t.Parallel()
	header := func(change func([]byte)) []byte {
		b := version1(t)
		change(b)
		binary.LittleEndian.PutUint32(b[500:], checksum(b[:500]))
		return b
	}
	for name, data := range map[string][]byte{
		"text":         bytes.Repeat([]byte("no vectors here "), 100),
		"newer":        header(func(b []byte) { b[8] = slabVersion + 1 }),
		"byte order":   header(func(b []byte) { b[12], b[15] = b[15], b[12] }),
		"model":        header(func(b []byte) { b[22] = 'x' }),
		"no dimension": header(func(b []byte) { b[16] = 0 }),
		"huge":         header(func(b []byte) { b[19] = 0xff }),
		"long name":    header(func(b []byte) { b[21] = 0xff }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, why := openBytes(t, data)
			if why == "" || s.state.Filled != 0 {
				t.Errorf("got %+v, %q, want no rows and a reason", s.state, why)
			}
			rows := someRows(2, 3)
			if err := s.append(rows, rows[1].rowRef); err != nil || s.state.Filled != 2 {
				t.Errorf("it cannot be used: %+v, %v", s.state, err)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "v")
	for _, model := range []string{"fake-1", "fake-2"} {
		s, why, err := openStore(path, model)
		if err != nil || (why != "") != (model == "fake-2") || s.state.Filled != 0 {
			t.Fatalf("%s: %q, %v, %+v", model, why, err, s.state)
		}
		rows := someRows(2, 3)
		if err := errors.Join(s.append(rows, rows[1].rowRef), s.close()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKilledBetweenForgettingAndErasing: a crash in between leaves a file that says so, and the next start erases.
func TestKilledBetweenForgettingAndErasing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "v")
	s := storeAt(t, path)
	rows := someRows(20, 512)
	err := errors.Join(s.append(rows, rows[19].rowRef), s.forget([]events.ID{rows[3].id}, nil), s.close())
	if err != nil || holdsVector(t, path, rows[3]) != true {
		t.Fatalf("%v; or the row is gone already, and this tests nothing", err)
	}
	s = storeAt(t, path)
	if err := s.compact(); err != nil || holdsVector(t, path, rows[3]) || !holdsVector(t, path, rows[4]) || s.state.Stale {
		t.Errorf("%v, %+v", err, s.state)
	}
	isAsMade(t, rowsIn(t, s), rows)
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

// TestDamagedThenForgotten: rows that a check deletes leave no byte either, for they may be forgotten before they are made again.
func TestDamagedThenForgotten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "v")
	s, rows := storeAt(t, path), someRows(20, 512)
	if err := s.append(rows, rows[19].rowRef); err != nil {
		t.Fatal(err)
	}
	spoil(t, s, 10)
	why, err := s.check()
	if err != nil || why == "" || !holdsVector(t, path, rows[3]) {
		t.Fatalf("%q, %v; or the rows are gone already, and this tests nothing", why, err)
	}
	if err := errors.Join(s.forget([]events.ID{rows[3].id}, nil), s.compact()); err != nil || holdsVector(t, path, rows[3]) {
		t.Errorf("a row that was deleted, and then forgotten, is in the file still; %v", err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

// TestDamageIsNotSealed: a block that is damaged is not written again as if it were whole, but has the file checked.
func TestDamageIsNotSealed(t *testing.T) {
	t.Parallel()
	s := storeAt(t, filepath.Join(t.TempDir(), "v"))
	defer s.close()
	rows := someRows(20, 512)
	if err := s.append(rows[:19], rows[18].rowRef); err != nil {
		t.Fatal(err)
	}
	spoil(t, s, 10)
	for what, err := range map[string]error{
		"append": s.append(rows[19:], rows[19].rowRef), "forget": s.forget([]events.ID{rows[2].id}, nil),
	} {
		if !errors.Is(err, errDoubted) || errors.Is(err, engine.ErrDamaged) {
			t.Errorf("%s: got %v, want a check", what, err)
		}
	}
	if why, err := s.check(); err != nil || why == "" || s.state.Filled != 0 {
		t.Errorf("the damage is hidden: %q, %v, %+v", why, err, s.state)
	}
}

// spoil changes a bit of a block whose first row is at a position.
func spoil(tb testing.TB, s *store, at events.Position) {
	tb.Helper()
	key := binary.BigEndian.AppendUint64(nil, uint64(at))
	err := s.update(func(blocks *bolt.Bucket, _ *state) error {
		value := bytes.Clone(blocks.Get(key))
		value[len(value)-1] ^= 1
		return blocks.Put(key, value)
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// holdsVector reports whether the bytes of a vector are anywhere in a file.
func holdsVector(tb testing.TB, path string, r row) bool {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return bytes.Contains(b, vectorBytes(r))
}

func vectorBytes(r row) (b []byte) {
	for _, x := range r.vector {
		b = binary.NativeEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// TestNearestIsExact holds what is found to a comparison with everything.
func TestNearestIsExact(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "v")
	s := storeAt(t, path)
	const dims = 13 // no multiple of eight
	defer s.close()
	rapid.Check(t, func(t *rapid.T) {
		if err := s.reset(); err != nil {
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
		var rows []row
		var only []events.Position
		all := best{k: k}
		for i := range n {
			rows = append(rows, row{rowRef{id: events.ID{15: byte(i)}, position: events.Position(i + 1)}, vector()})
		}
		for list := range slices.Chunk(rows, rapid.IntRange(1, 9).Draw(t, "at once")) {
			if err := s.append(list, list[len(list)-1].rowRef); err != nil {
				t.Fatal(err)
			}
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
			all.add(Hit{ID: r.id, Score: want, position: r.position})
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

// FuzzOpen: whatever a file holds, it is opened or begun anew, and can be searched after a check.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "v")
	s, rows := storeAt(f, path), someRows(3, 2)
	if err := errors.Join(s.append(rows, rows[2].rowRef), s.close()); err != nil {
		f.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Add(version1(f))
	f.Add([]byte(slabMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, _ := openBytes(t, data)
		if _, err := s.check(); err != nil {
			t.Skip("Run begins it anew")
		}
		if s.state.Filled > 0 {
			if _, _, err := s.nearest(make([]float32, s.state.Dims), nil, 3); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestClosedStore: a file that could not be opened again has nothing to forget and nothing to check.
func TestClosedStore(t *testing.T) {
	t.Parallel()
	s := storeAt(t, filepath.Join(t.TempDir(), "v"))
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if err := s.forget([]events.ID{{1}}, nil); err != nil {
		t.Errorf("forget: got %v", err)
	}
	if why, err := s.check(); why != "" || err != nil {
		t.Errorf("check: got %q, %v", why, err)
	}
}
