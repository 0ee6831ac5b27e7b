package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/internal/transient"
)

// Place is where an engine keeps objects, for one test alone: a folder, a server.
type Place struct {
	// Open makes one more connection, as another machine has it. The suite closes it.
	Open func(testing.TB) store.Store
	// Fault, where the engine is at the other end of a connection, makes that so for all connections of Open until it is called again.
	Fault func(Fault)
	// Steady is Open for a connection that Fault leaves alone.
	Steady func(testing.TB) store.Store
	// Restart, where the engine outlives its process, ends it and starts it again on what it kept. No connection is open meanwhile.
	Restart func(testing.TB)
}

// Fault is what is wrong with a connection.
type Fault int

const (
	Healed  Fault = iota // nothing
	Cut                  // nothing goes through, and new connections are refused
	Unheard              // what is asked is done, and the answers are lost
)

// patience bounds the waits of a test; nothing waits that long where the engine keeps its promises, but on a machine that is busy.
const patience = 2 * time.Minute

// world is a place within one test.
type world struct {
	Place
	ctx context.Context
}

func newWorld(t testing.TB, place Place) *world {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return &world{Place: place, ctx: ctx}
}

// open makes a connection that is closed with the test.
func (w *world) open(t testing.TB) *machine {
	t.Helper()
	return w.closed(t, w.Open(t))
}

func (w *world) closed(t testing.TB, s store.Store) *machine {
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &machine{Store: s, ctx: w.ctx}
}

// faulty makes a connection that Fault ends and one that it does not.
func (w *world) faulty(t testing.TB) (far, near *machine) {
	t.Helper()
	far, near = w.open(t), w.closed(t, w.Steady(t))
	t.Cleanup(func() { w.Fault(Healed) })
	return far, near
}

// machine is a connection, and what a test asks of it.
type machine struct {
	store.Store
	ctx context.Context
}

func (m *machine) mustCreate(t testing.TB, key store.Key, body string) store.Rev {
	t.Helper()
	rev, err := m.Create(m.ctx, key, []byte(body))
	if err != nil || rev == "" {
		t.Fatalf("Create %s = %q, %v", key, rev, err)
	}
	return rev
}

func (m *machine) mustReplace(t testing.TB, key store.Key, at store.Rev, body string) store.Rev {
	t.Helper()
	rev, err := m.Replace(m.ctx, key, at, []byte(body))
	if err != nil || rev == "" || rev == at {
		t.Fatalf("Replace %s at %q = %q, %v", key, at, rev, err)
	}
	return rev
}

func (m *machine) mustDelete(t testing.TB, key store.Key, at store.Rev) {
	t.Helper()
	if err := m.Delete(m.ctx, key, at); err != nil {
		t.Fatalf("Delete %s at %q: %v", key, at, err)
	}
}

// wantBody fails unless key has body at rev.
func (m *machine) wantBody(t testing.TB, key store.Key, body string, rev store.Rev) {
	t.Helper()
	got, at, err := m.Get(m.ctx, key)
	if err != nil || !bytes.Equal(got, []byte(body)) || at != rev {
		t.Fatalf("Get %s = %s at %q, %v; want %s at %q", key, short(got), at, err, short([]byte(body)), rev)
	}
}

func (m *machine) wantNone(t testing.TB, key store.Key) {
	t.Helper()
	if body, rev, err := m.Get(m.ctx, key); !errors.Is(err, store.ErrNotFound) || body != nil || rev != "" {
		t.Fatalf("Get %s = %s at %q, %v; want ErrNotFound", key, short(body), rev, err)
	}
}

// wantErr fails unless err is want, and does not say that it may pass.
func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) || transient.Is(err) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// wantPasses fails unless err may pass.
func wantPasses(t testing.TB, what string, err error) {
	t.Helper()
	if err == nil || !transient.Is(err) {
		t.Errorf("%s: %v, want an error that may pass", what, err)
	}
}

func short(body []byte) string {
	const most = 40
	if len(body) <= most {
		return string(body)
	}
	return string(body[:most]) + "..."
}

// noise is size bytes that follow from seed and do not compress.
func noise(seed string, size int) []byte {
	out := make([]byte, 0, size+sha256.Size)
	for n := uint64(0); len(out) < size; n++ {
		block := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(seed), n))
		out = append(out, block[:]...)
	}
	return out[:size]
}
