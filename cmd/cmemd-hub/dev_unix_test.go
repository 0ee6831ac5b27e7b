//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/eventlog/share/store/jet"
)

// devProcess is --dev as a program: three stores that are processes of their own.
type devProcess struct {
	cmd     *exec.Cmd
	dir     string
	address string
	stderr  bytes.Buffer

	mu      sync.Mutex // guards the fields below
	changed chan struct{}
	stores  map[int]devStore
	leads   int
	seen    map[string]int // events, by store and name
}

// startDev starts --dev, and ends it with the test. Each store ends then, and its folder can be had again.
func startDev(t *testing.T) *devProcess {
	t.Helper()
	p := &devProcess{dir: filepath.Join(t.TempDir(), "hub"), changed: make(chan struct{}), stores: map[int]devStore{}, seen: map[string]int{}}
	p.cmd = exec.Command(os.Args[0], "--dev", "3", "--dir", p.dir, "--listen", "127.0.0.1:0", "--json")
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), isHub+"=1"), &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var first devJoining
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &first) != nil || len(first.Stores) != devStores {
		_ = p.cmd.Process.Kill()
		t.Fatalf("%s, %v\n%s", lines.Bytes(), p.cmd.Wait(), &p.stderr)
	}
	p.address = first.Address
	for _, s := range first.Stores {
		p.note(notice{devStore: s})
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines.Scan() {
			var n notice
			if err := json.Unmarshal(lines.Bytes(), &n); err != nil {
				t.Errorf("%s: %v", lines.Bytes(), err)
			}
			p.note(n)
		}
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		<-read
		if err := p.cmd.Wait(); err != nil && p.cmd.ProcessState.ExitCode() >= 0 { // it was not killed by the test
			t.Errorf("stopped in order: %v\n%s", err, &p.stderr)
		}
		p.wantEnded(t)
	})
	return p
}

// wantEnded checks that no store runs any more: a folder's lock goes with its process.
func (p *devProcess) wantEnded(t *testing.T) {
	t.Helper()
	for n := range devStores {
		_, lock, err := prepare(filepath.Join(p.dir, fmt.Sprint(n+1)))
		if err != nil {
			t.Errorf("store %d goes on: %v", n+1, err)
			continue
		}
		_ = lock.Close()
	}
}

func (p *devProcess) note(n notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stores[n.Store] = n.devStore
	p.seen[fmt.Sprint(n.Store, n.Event)]++
	if n.Event == eventLeads {
		p.leads = n.Store
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// await returns once what is told of the stores fulfils ok.
func (p *devProcess) await(t *testing.T, ctx context.Context, what string, ok func() bool) {
	t.Helper()
	for {
		p.mu.Lock()
		done, changed := ok(), p.changed
		p.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("waited too long for %s", what)
		}
	}
}

// leader is the store that leads the objects.
func (p *devProcess) leader(t *testing.T, ctx context.Context) devStore {
	t.Helper()
	var s devStore
	p.await(t, ctx, "a leader", func() bool {
		s = p.stores[p.leads]
		return p.leads != 0
	})
	return s
}

// signal sends a signal to a store.
func (s devStore) signal(t *testing.T, which syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(s.PID, which); err != nil {
		t.Fatal(err)
	}
}

// goOn makes one more object in the space that the machines write to, and returns how long it took until that was answered.
func (p *devProcess) goOn(t *testing.T, ctx context.Context) time.Duration {
	t.Helper()
	began := time.Now()
	remove := p.put(t, ctx, "kill/after", nil)
	took := time.Since(began)
	remove()
	if took > electionIn {
		t.Errorf("puts went on after %v", took)
	}
	return took.Round(time.Millisecond)
}

// put makes an object of the test's own, and returns what removes it.
func (p *devProcess) put(t *testing.T, ctx context.Context, key store.Key, body []byte) (remove func()) {
	t.Helper()
	s := openJet(t, p.address)
	must := func(do func() error) {
		if err := eventually(t, func(context.Context) error { return do() }); err != nil {
			t.Fatal(err)
		}
	}
	must(func() error {
		_, err := s.Create(ctx, key, body)
		if errors.Is(err, store.ErrExists) { // of which no answer came
			return nil
		}
		return err
	})
	return func() {
		must(func() error {
			_, rev, err := s.Get(ctx, key)
			if err == nil {
				err = s.Delete(ctx, key, rev)
			}
			if errors.Is(err, store.ErrNotFound) {
				return nil
			}
			return err
		})
		_ = s.Close()
	}
}

// electionIn is how long puts may wait for another leader. It is chosen in 4 to 9 s; a machine that runs six suites at once takes longer.
const electionIn = 30 * time.Second

const shippers = 4

// play runs a fault beside four machines that write: puts go on, and nothing that was answered is missing.
func play(t *testing.T, fault func(ctx context.Context, p *devProcess)) {
	t.Parallel()
	p := startDev(t)
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	w := newWriters(t, ctx, func() *jet.Jet { return openJet(t, p.address) }, shippers)
	w.await(t, ctx, 200)
	fault(ctx, p)
	w.await(t, ctx, 200)
	w.stop()
	s := openJet(t, p.address)
	defer s.Close()
	w.ledger.Check(ctx, t, s)
	t.Logf("%d objects of %d machines, none missing", len(w.ledger.Created()), shippers)
}

// TestStoreKilled kills the store that leads with -9.
func TestStoreKilled(t *testing.T) {
	play(t, func(ctx context.Context, p *devProcess) {
		gone := p.leader(t, ctx)
		gone.signal(t, syscall.SIGKILL)
		t.Logf("puts went on %v after kill -9 of the leader", p.goOn(t, ctx))
		p.await(t, ctx, "the store to be back", func() bool {
			return p.seen[fmt.Sprint(gone.Store, eventStarted)] == 1 && p.stores[gone.Store].PID != gone.PID
		})
	})
}

// TestStoreStopped has the store that leads stand still for some seconds: it is no leader any more when it goes on.
func TestStoreStopped(t *testing.T) {
	play(t, func(ctx context.Context, p *devProcess) {
		still := p.leader(t, ctx)
		still.signal(t, syscall.SIGSTOP)
		defer still.signal(t, syscall.SIGCONT)
		t.Logf("puts went on %v after SIGSTOP of the leader", p.goOn(t, ctx))
		p.await(t, ctx, "another leader", func() bool { return p.leads != still.Store })
	})
}

// awaitFile returns once a file of a folder holds a text.
func awaitFile(t *testing.T, ctx context.Context, dir, text string) {
	t.Helper()
	for len(filesWith(t, dir, text)) == 0 {
		if ctx.Err() != nil {
			t.Fatalf("no file of %s has %.40q", dir, text)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestStoreWiped takes the objects of one store away while it is off: it fills again from the others, and can be one of two that go on.
func TestStoreWiped(t *testing.T) {
	play(t, func(ctx context.Context, p *devProcess) {
		before, after := strings.Repeat("an object that comes back ", 8), strings.Repeat("an object that follows ", 8)
		defer p.put(t, ctx, "kill/before", []byte(before))()
		gone := p.leader(t, ctx)
		gone.signal(t, syscall.SIGKILL)
		p.await(t, ctx, "the store to end", func() bool { return p.seen[fmt.Sprint(gone.Store, eventEnded)] == 1 })
		if err := os.RemoveAll(filepath.Join(gone.Dir, "jetstream")); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		streams := filepath.Join(gone.Dir, "jetstream", "$G") // beside them is what the stores agreed on and did not yet do
		awaitFile(t, ctx, streams, before)
		t.Logf("the wiped store had the others' objects again %v after it was wiped", time.Since(began).Round(time.Millisecond))
		// A store takes objects in the order of their numbers: with one that was made now it has all before it, those made while it
		// filled too. Until then it is a copy that is gone, and the fault of another would be the second.
		defer p.put(t, ctx, "kill/follows", []byte(after))()
		awaitFile(t, ctx, streams, after)
		other := p.leader(t, ctx)
		if other.Store == gone.Store {
			return // it leads already, which takes all of it
		}
		other.signal(t, syscall.SIGKILL)
		t.Logf("puts went on %v after kill -9 of another store", p.goOn(t, ctx))
	})
}

// TestDevKilled: no store outlives the program that started it.
func TestDevKilled(t *testing.T) {
	t.Parallel()
	p := startDev(t)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wantEnded(t)
}
