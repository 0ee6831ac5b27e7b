package storetest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/cmemd/cmemd/eventlog/share/store"
)

// Memory is an engine in memory: what its connections share. It is strong, and keeps every state that an object ever had, so that
// a connection can serve old ones and a test can search all bytes that ever came here.
type Memory struct {
	mu      sync.Mutex            // guards the fields below
	objects map[store.Key]*object // also of keys that have none now, for what they had
	states  uint64                // how many there have been
	changed chan struct{}         // closed, and made anew, at each change
}

// object is one key's states, the oldest first.
type object struct {
	states  []state
	present bool // whether the last one is there
}

type state struct {
	rev  store.Rev
	body []byte
}

// NewMemory returns an engine without objects.
func NewMemory() *Memory {
	return &Memory{objects: map[store.Key]*object{}, changed: make(chan struct{})}
}

// Connect returns a connection without faults. Its faults come by chances from random, which it alone uses from then on; nil is a
// source with a fixed seed.
func (m *Memory) Connect(random *rand.Rand) *Faulty {
	if random == nil {
		random = rand.New(rand.NewPCG(1, 2))
	}
	return &Faulty{memory: m, random: random, done: make(chan struct{})}
}

// Ever yields every body that was ever put here, with its key, also those that were replaced or deleted since.
func (m *Memory) Ever() iter.Seq2[store.Key, []byte] {
	m.mu.Lock()
	kept := map[store.Key][]state{}
	for key, o := range m.objects {
		kept[key] = slices.Clone(o.states)
	}
	m.mu.Unlock()
	return bodies(kept)
}

// Now yields every body that is here, with its key.
func (m *Memory) Now() iter.Seq2[store.Key, []byte] {
	m.mu.Lock()
	kept := map[store.Key][]state{}
	for key, o := range m.objects {
		if o.present {
			kept[key] = slices.Clone(o.states[len(o.states)-1:])
		}
	}
	m.mu.Unlock()
	return bodies(kept)
}

func bodies(kept map[store.Key][]state) iter.Seq2[store.Key, []byte] {
	return func(yield func(store.Key, []byte) bool) {
		for _, key := range slices.Sorted(maps.Keys(kept)) {
			for _, s := range kept[key] {
				if !yield(key, bytes.Clone(s.body)) {
					return
				}
			}
		}
	}
}

// Forget loses an object, as an engine that broke its promise, and reports whether there was one.
func (m *Memory) Forget(key store.Key) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.objects[key]
	if o == nil || !o.present {
		return false
	}
	o.present = false
	m.wake()
	return true
}

// Tamper puts body under key whatever is there, as an engine that lies, or somebody with its password.
func (m *Memory) Tamper(key store.Key, body []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(key, body)
}

// Snapshot is what the objects of a Memory were at a moment.
type Snapshot map[store.Key]state

// Snapshot returns what is here now.
func (m *Memory) Snapshot() Snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := Snapshot{}
	for key, o := range m.objects {
		if o.present {
			now[key] = o.states[len(o.states)-1]
		}
	}
	return now
}

// Restore makes then what is here, revisions and all, as an engine that was restored from a backup.
func (m *Memory) Restore(then Snapshot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, o := range m.objects {
		was, there := then[key]
		if there && (!o.present || o.states[len(o.states)-1].rev != was.rev) {
			o.states = append(o.states, was)
		}
		o.present = there
	}
	m.wake()
}

func (m *Memory) create(key store.Key, body []byte) (store.Rev, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o := m.objects[key]; o != nil && o.present {
		return "", store.ErrExists
	}
	return m.put(key, body), nil
}

func (m *Memory) replace(key store.Key, rev store.Rev, body []byte) (store.Rev, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.at(key, rev); err != nil {
		return "", err
	}
	return m.put(key, body), nil
}

func (m *Memory) remove(key store.Key, rev store.Rev) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, err := m.at(key, rev)
	if err != nil {
		return err
	}
	o.present = false
	m.wake()
	return nil
}

// at returns the object that is at rev. The caller holds mu.
func (m *Memory) at(key store.Key, rev store.Rev) (*object, error) {
	o := m.objects[key]
	switch {
	case o == nil || !o.present:
		return nil, store.ErrNotFound
	case o.states[len(o.states)-1].rev != rev:
		return nil, store.ErrMoved
	}
	return o, nil
}

// put adds a state. The caller holds mu.
func (m *Memory) put(key store.Key, body []byte) store.Rev {
	m.states++
	o := m.objects[key]
	if o == nil {
		o = &object{}
		m.objects[key] = o
	}
	s := state{rev: store.Rev(fmt.Sprint(m.states)), body: bytes.Clone(body)}
	o.states, o.present = append(o.states, s), true
	m.wake()
	return s.rev
}

// wake wakes who watches. The caller holds mu.
func (m *Memory) wake() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// get returns the state of key, or the one that older says, given how many there are; below zero is none.
func (m *Memory) get(key store.Key, older func(states int) int) ([]byte, store.Rev, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.objects[key]
	if o == nil {
		return nil, "", store.ErrNotFound
	}
	n := older(len(o.states))
	if n < 0 || n == len(o.states)-1 && !o.present {
		return nil, "", store.ErrNotFound
	}
	return bytes.Clone(o.states[n].body), o.states[n].rev, nil
}

// list returns all entries under prefix in order, and a channel that is closed at the next change.
func (m *Memory) list(prefix string) ([]store.Entry, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []store.Entry
	for key, o := range m.objects {
		if o.present && strings.HasPrefix(string(key), prefix) {
			found = append(found, store.Entry{Key: key, Rev: o.states[len(o.states)-1].rev})
		}
	}
	slices.SortFunc(found, func(a, b store.Entry) int { return cmp.Compare(a.Key, b.Key) })
	return found, m.changed
}

// wait returns when ctx or done ends, or changed is closed.
func wait(ctx context.Context, done, changed <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-done:
	case <-changed:
	}
}
