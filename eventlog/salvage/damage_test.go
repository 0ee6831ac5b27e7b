package salvage_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
)

var (
	trials = flag.Int("trials", 143, "how many random damages are tried")
	seeded = flag.Uint64("seed", 1, "of the random damages; 0: another one each time")
)

// damages are the ways in which a file is spoiled. Each changes b, or returns another file.
var damages = []struct {
	name string
	do   func(random *rand.Rand, b []byte) []byte
}{
	{"one bit flipped", func(random *rand.Rand, b []byte) []byte { return flip(random, b, 1) }},
	{"some bits flipped", func(random *rand.Rand, b []byte) []byte { return flip(random, b, 2+random.IntN(8)) }},
	{"a page zeroed", func(random *rand.Rand, b []byte) []byte { clear(page(random, b)); return b }},
	{"some pages zeroed", func(random *rand.Rand, b []byte) []byte {
		for range 2 + random.IntN(6) {
			clear(page(random, b))
		}
		return b
	}},
	{"a page of random bytes", func(random *rand.Rand, b []byte) []byte { fill(random, page(random, b)); return b }},
	{"a page copied over another", func(random *rand.Rand, b []byte) []byte { copy(page(random, b), page(random, b)); return b }},
	{"some pages copied over others", func(random *rand.Rand, b []byte) []byte {
		for range 2 + random.IntN(6) {
			copy(page(random, b), page(random, b))
		}
		return b
	}},
	{"two pages exchanged", func(random *rand.Rand, b []byte) []byte {
		x, y := page(random, b), page(random, b)
		was := bytes.Clone(x)
		copy(x, y)
		copy(y, was)
		return b
	}},
	{"a sector zeroed", func(random *rand.Rand, b []byte) []byte { clear(page(random, b)[512*random.IntN(8):][:512]); return b }},
	{"cut", func(random *rand.Rand, b []byte) []byte { return b[:1+random.IntN(len(b)-1)] }},
	{"cut at a page", func(random *rand.Rand, b []byte) []byte { return b[:pageSize*(1+random.IntN(len(b)/pageSize-1))] }},
	{"the first pages zeroed", func(_ *rand.Rand, b []byte) []byte { clear(b[:4*pageSize]); return b }},
	{"a meta page zeroed", func(random *rand.Rand, b []byte) []byte { clear(b[pageSize*random.IntN(2):][:pageSize]); return b }},
	{"text written over it", func(random *rand.Rand, b []byte) []byte {
		copy(b[random.IntN(len(b)):], "2026/11/26 12:00:00 a line of a log file that went to another place\n")
		return b
	}},
	{"bytes put in between", func(random *rand.Rand, b []byte) []byte {
		return slices.Insert(b, random.IntN(len(b)), make([]byte, 1+random.IntN(100))...)
	}},
}

func flip(random *rand.Rand, b []byte, n int) []byte {
	for range n {
		b[random.IntN(len(b))] ^= 1 << random.IntN(8)
	}
	return b
}

func fill(random *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(random.IntN(256))
	}
}

func page(random *rand.Rand, b []byte) []byte {
	return b[pageSize*random.IntN(len(b)/pageSize):][:pageSize]
}

// TestRandomDamage spoils logs in many ways. Each record whose bytes are whole anywhere in the file is recovered as it was, nothing is
// there that was not, and what was erased stays so as long as anything says that it was. The seed fixes the damage, and not which pages
// bbolt chose for the log.
func TestRandomDamage(t *testing.T) {
	t.Parallel()
	seed := *seeded
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var o original
	lost, unread, kept := uint64(0), uint64(0), uint64(0)
	for i := range *trials {
		if i%len(damages) == 0 {
			o = newOriginal(t, random, 40+random.IntN(100), random.IntN(2) == 0)
		}
		d := damages[i%len(damages)]
		name := fmt.Sprintf("trial %d: %s", i, d.name)
		file := d.do(random, bytes.Clone(o.file))
		s := read(t, file)
		o.check(t, name, file, written(t, s))
		lost, unread, kept = lost+s.Lost.Count, unread+s.Unread.Count, kept+s.Records
		if t.Failed() {
			whole, _ := o.wholeIn(file)
			for i, r := range written(t, s) {
				if r.Kind == events.KindRecordLost && i < len(whole) && whole[i] {
					t.Log(s.Why(r.Position))
				}
			}
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d records recovered, %d of them without payload, %d lost", kept, unread, lost)
}

// check holds what was salvaged of a file against what there was.
func (o original) check(t *testing.T, name string, file []byte, got []events.Record) {
	t.Helper()
	if len(got) > len(o.records) {
		t.Errorf("%s: %d records of %d", name, len(got), len(o.records))
		return
	}
	whole, begun := o.wholeIn(file)
	for i, was := range o.records {
		vouched := was.Previous == 0 || whole[was.Previous-1] || !begun[was.Previous-1] // else nobody can say which of the two is damaged
		switch {
		case i >= len(got):
			if whole[i] && vouched {
				t.Errorf("%s: position %d is whole, and behind the end", name, was.Position)
			}
		case got[i].Kind == events.KindRecordLost:
			if whole[i] && vouched {
				t.Errorf("%s: position %d is whole, and lost", name, was.Position)
			}
		case !same(got[i], was):
			if whole[i] || vouched {
				t.Errorf("%s: position %d is another record:\n%+v\nwas\n%+v", name, was.Position, got[i].Header, was.Header)
			}
		case was.Erased && !got[i].Erased && o.saysErased(was.Position, whole):
			t.Errorf("%s: position %d was erased, and is back", name, was.Position)
		case got[i].Erased && !was.Erased && whole[i]:
			t.Errorf("%s: position %d is whole, and without its payload", name, was.Position)
		case got[i].Check() != nil:
			t.Errorf("%s: position %d: %v", name, was.Position, got[i].Check())
		}
	}
}

// saysErased reports whether a file of whose records these are whole must tell that a position was erased: by the erased record or by the
// one that names it as forgotten. With both lost an older page that holds the payload is as it would be had nothing been forgotten, and
// the chains in the heads of streams are over salted hashes and random ids that are lost, too. A log that was compacted has no such page.
func (o original) saysErased(at events.Position, whole []bool) bool {
	i, named := o.forgetter(at)
	return o.compact || whole[at-1] || named && whole[i]
}

// same reports whether two records differ in their places alone.
func same(a, b events.Record) bool {
	a.Version, a.Previous = b.Version, b.Previous
	return a.Header == b.Header
}

// wholeIn says of each record whether its bytes are in a file, and whether its beginning is.
func (o original) wholeIn(file []byte) (whole, begun []bool) {
	const random, size = 8 + 4 + 43 + 8, 8 // where the random half of a record's id lies
	whole, begun = make([]bool, len(o.records)), make([]bool, len(o.records))
	ids := map[[size]byte]int{}
	for i, stored := range o.stored {
		ids[[size]byte(stored[random:])] = i
	}
	for at := random; at+size <= len(file); at++ {
		i, ok := ids[[size]byte(file[at:])]
		if !ok {
			continue
		}
		begun[i] = true
		whole[i] = whole[i] || bytes.HasPrefix(file[at-random:], o.stored[i])
	}
	return whole, begun
}
