package scenarios

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/programs"
)

const storesWait = time.Minute // a cluster chooses its first leader in seconds

// stores are three stores on loopback that cmemd-hub runs.
type stores struct {
	address string // as join takes it
	base    string // where the first listens
	cmd     *exec.Cmd
	stop    context.CancelFunc
	done    chan struct{} // closed when it has ended, and all that it said was read

	mu              sync.Mutex         // guards the fields below
	all             map[int]storeEvent // by number
	leaderNumber    int                // the number of the one that leads; 0: not known
	restartedNumber int                // the number of one that ended and is there again; 0: none
}

// storeEvent is a store as `cmemd-hub --dev --json` tells of it: on the first line all of them, then one a line with what became of it.
type storeEvent struct {
	Store int    `json:"store"`
	PID   int    `json:"pid"`
	At    string `json:"at"`
	Event string `json:"event"`
}

// openStores runs program until ctx is done or clear is called, and returns once spaces can be made. What it says of errors goes to stderr.
func openStores(ctx context.Context, program, dir string, stderr io.Writer) (*stores, error) {
	ctx, stop := context.WithCancel(ctx)
	cmd, err := programs.HubCommand(ctx, program, "--dev", "3", "--dir", dir, "--listen", "127.0.0.1:0", "--json")
	if err != nil {
		stop()
		return nil, err
	}
	s := &stores{cmd: cmd, stop: stop, done: make(chan struct{}), all: map[int]storeEvent{}}
	s.cmd.Stderr = stderr
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		stop()
		return nil, err
	}
	first := make(chan error, 1)
	go s.read(out, first)
	select {
	case err = <-first:
	case <-time.After(storesWait):
		err = fmt.Errorf("gave up waiting for the stores after %v", storesWait)
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		s.clear()
		return nil, err
	}
	return s, nil
}

// read reads what cmemd-hub says until it ends. first is called with what became of the first line.
func (s *stores) read(out io.Reader, first chan<- error) {
	defer close(s.done)
	in := bufio.NewReader(out)
	var begun struct {
		Address string       `json:"address"`
		Stores  []storeEvent `json:"stores"`
	}
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &begun)
	}
	if err == nil && len(begun.Stores) == 0 {
		err = errors.New("it is of another version: take both programs from one release")
	}
	if err != nil {
		_ = s.cmd.Process.Kill() // where it did not end by itself
		first <- fmt.Errorf("%s did not begin (%w): %w", programs.Hub, err, s.cmd.Wait())
		return
	}
	s.address, s.base = begun.Address, begun.Stores[0].At
	for _, one := range begun.Stores {
		s.note(one)
	}
	first <- nil
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var one storeEvent
		if json.Unmarshal(lines.Bytes(), &one) == nil {
			s.note(one)
		}
	}
	_ = s.cmd.Wait() // it was asked to, or the machines find out
}

// note keeps what became of a store.
func (s *stores) note(one storeEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[one.Store] = one
	switch one.Event {
	case "leads":
		s.leaderNumber = one.Store
	case "started":
		s.restartedNumber = one.Store
	case "ended":
		if s.leaderNumber == one.Store {
			s.leaderNumber = 0
		}
	}
}

// leader is the store that leads what is stored; ok is false where that is not known.
func (s *stores) leader() (one storeEvent, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok = s.all[s.leaderNumber]
	return one, ok
}

// back is the number of a store that ended and is there again; 0 where there is none.
func (s *stores) back() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.restartedNumber
}

// killLeader kills the store that leads with SIGKILL.
func (s *stores) killLeader() (storeEvent, error) {
	one, ok := s.leader()
	if !ok {
		return one, errors.New("no store leads")
	}
	p, err := os.FindProcess(one.PID)
	if err == nil {
		err = p.Kill()
	}
	return one, err
}

// clear ends all of them, in order.
func (s *stores) clear() {
	s.stop()
	<-s.done
}
