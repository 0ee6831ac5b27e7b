package union_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// eraseModel is what must have no words any more.
type eraseModel struct {
	own    *eventlog.Bolt
	dir    string
	u      *union.Union
	id     events.LogID
	all    []events.Record
	texts  []string
	erased map[events.Position]bool
}

// TestErasedForGood: what was erased has no payload, whatever comes later, again, or of an older edition, and whichever files are lost.
func TestErasedForGood(t *testing.T) {
	t.Parallel()
	var texts []string
	for i := range 12 {
		texts = append(texts, fmt.Sprintf("words-of-record-%02d", i+1))
	}
	all := mustAppend(t, logtest.Open(t, eventlog.Config{}), logtest.Session("a"), texts...)
	rapid.Check(t, func(rt *rapid.T) {
		m := &eraseModel{
			own: logtest.Open(rt, eventlog.Config{}), dir: copies(t), erased: map[events.Position]bool{},
			all: all, texts: texts, id: events.LogIDOf(all[0]),
		}
		mustAppend(rt, m.own, events.Daemon, "own")
		m.u = open(rt, m.own, m.dir)
		rt.Repeat(map[string]func(*rapid.T){
			"add":   m.add,
			"erase": m.erase,
			"compact": func(rt *rapid.T) {
				if rapid.IntRange(0, 9).Draw(rt, "compact") == 0 { // it writes and reads 16 MB
					m.compact(rt)
				}
			},
			"own":   func(rt *rapid.T) { mustAppend(rt, m.own, events.Daemon, "own") },
			"lose":  m.lose,
			"check": m.check,
		})
		m.check(rt)
		if rapid.IntRange(0, 3).Draw(rt, "compact at the end") == 0 {
			m.compact(rt)
		}
	})
}

// last is where the copy ends.
func (m *eraseModel) last() int {
	for _, c := range m.u.Copies() {
		if c.Log == m.id {
			return int(c.Last)
		}
	}
	return 0
}

// add hands over some records from one on that is here, or the next.
func (m *eraseModel) add(rt *rapid.T) {
	from := rapid.IntRange(0, m.last()).Draw(rt, "from")
	to := rapid.IntRange(from, len(m.all)).Draw(rt, "to")
	if err := m.u.Add(rt.Context(), union.Run{Log: m.id, Records: m.all[from:to]}); err != nil {
		rt.Fatal(err)
	}
}

func (m *eraseModel) erase(rt *rapid.T) {
	at := rapid.SliceOfN(rapid.IntRange(1, len(m.all)), 1, 3).Draw(rt, "erase")
	var places []events.Place
	for _, p := range at {
		places = append(places, events.Place{Log: m.id, Position: events.Position(p)})
		m.erased[events.Position(p)] = true
	}
	if err := m.u.Erase(rt.Context(), places...); err != nil {
		rt.Fatal(err)
	}
}

// compact checks that no file has a word of what was erased.
func (m *eraseModel) compact(rt *rapid.T) {
	if err := m.u.Compact(rt.Context()); err != nil {
		rt.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(m.dir, "*"))
	if err != nil {
		rt.Fatal(err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			rt.Fatal(err)
		}
		for p := range m.erased {
			if bytes.Contains(b, []byte(m.texts[p-1])) {
				rt.Fatalf("%s has the words of record %d", filepath.Base(path), p)
			}
		}
	}
}

// lose closes the union, loses or damages a file, or none, and opens it again.
func (m *eraseModel) lose(rt *rapid.T) {
	_ = m.u.Close()
	path := filepath.Join(m.dir, m.id.String()+".db")
	switch rapid.IntRange(0, 3).Draw(rt, "lose") {
	case 1:
		_ = os.Remove(path)
	case 2:
		if info, err := os.Stat(path); err == nil {
			if err := os.Truncate(path, info.Size()/2); err != nil {
				rt.Fatal(err)
			}
		}
	}
	m.u = open(rt, m.own, m.dir)
}

func (m *eraseModel) check(rt *rapid.T) {
	next := events.Position(1)
	for r, err := range m.u.All(rt.Context(), 1) {
		if err != nil || r.Position != next {
			rt.Fatalf("after %d: got %d, %v", next-1, r.Position, err)
		}
		next++
		place := r.Place()
		if place.Log != m.id {
			continue
		}
		if r.Erased != m.erased[place.Position] || r.Chain != m.all[place.Position-1].Chain {
			rt.Fatalf("record %d: erased %v, want %v", place.Position, r.Erased, m.erased[place.Position])
		}
	}
}

// TestEraseOwn: the own log's records are erased there, where that is recorded.
func TestEraseOwn(t *testing.T) {
	t.Parallel()
	all := newMachines(t, 2)
	u := open(t, all[0].log, copies(t))
	id, err := u.ID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range []events.LogID{{}, id} {
		if err := u.Erase(t.Context(), events.Place{Log: log, Position: 1}); !errors.Is(err, union.ErrOwn) {
			t.Errorf("Erase of log %q: got %v, want ErrOwn", log, err)
		}
		if err := u.Add(t.Context(), union.Run{Log: log, Records: all[1].next(t, all, 1)[0].Records}); !errors.Is(err, union.ErrOwn) {
			t.Errorf("Add to log %q: got %v, want ErrOwn", log, err)
		}
		all[1].fed = 0
	}
}
