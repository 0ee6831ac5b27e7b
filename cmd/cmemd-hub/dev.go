package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// againAfter is when a store that ended is started again: a cluster has chosen another leader by then (4 to 9 s).
	againAfter = 10 * time.Second
	// endIn is how long a store may take to end in order.
	endIn = 10 * time.Second
	// portTries is how often ports that follow each other are looked for.
	portTries = 100
)

// devStore is one store of several, as it is printed for whoever tries them.
type devStore struct {
	Store int    `json:"store"` // its number, from 1
	PID   int    `json:"pid"`
	At    string `json:"at"` // HOST:PORT
	Dir   string `json:"dir"`
}

// devJoining is the first line of --dev --json.
type devJoining struct {
	Address string     `json:"address"` // as `cmemd join` takes it: all of the stores
	Stores  []devStore `json:"stores"`
}

// notice is a line that follows.
type notice struct {
	devStore
	Event string `json:"event"` // leads, ended or started
	Why   string `json:"why,omitempty"`
}

// The events of a notice.
const (
	eventLeads   = "leads"
	eventEnded   = "ended"
	eventStarted = "started"
)

// change is what becomes of one store.
type change struct {
	store devStore
	said  report
	ended bool
	why   string
}

// dev runs several stores that keep each object on all of them.
type dev struct {
	program string
	stores  []membership
	changes chan change
	stderr  io.Writer
}

// runDev runs the stores until ctx is done: it prints what to join with once spaces can be made, and then what becomes of them. One that
// ends is started again.
func runDev(ctx context.Context, c config, asJSON bool, stdout, stderr io.Writer) error {
	d, err := newDev(c, stderr)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var running sync.WaitGroup
	for i := range d.stores {
		running.Go(func() { d.keep(ctx, i) })
	}
	go func() { // it ends with those
		running.Wait()
		close(d.changes)
	}()
	err = d.follow(ctx, asJSON, stdout)
	stop()
	for range d.changes { // until all have ended
	}
	return err
}

// newDev says what each store is to be.
func newDev(c config, stderr io.Writer) (*dev, error) {
	dir, err := filepath.Abs(c.dir)
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	listen, err := portsFrom(c.listen, c.dev)
	if err != nil {
		return nil, err
	}
	routes, err := portsFrom("127.0.0.1:0", c.dev)
	if err != nil {
		return nil, err
	}
	d := &dev{program: program, changes: make(chan change), stderr: stderr}
	secret := rand.Text()
	for n := range c.dev {
		d.stores = append(d.stores, membership{
			Dir: filepath.Join(dir, strconv.Itoa(n+1)), Listen: listen[n], Peers: peers{Number: n + 1, Routes: routes, Secret: secret},
		})
	}
	return d, nil
}

// portsFrom are n addresses on loopback whose ports follow each other, from that of listen on; where that is 0, free ones.
func portsFrom(listen string, n int) (all []string, err error) {
	host, first, err := splitListen(listen)
	if err != nil {
		return nil, err
	}
	host = cmp.Or(host, "127.0.0.1")
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("%w: --listen %q: the stores of --dev are for trying, on loopback alone: 127.0.0.1:PORT", errUsage, listen)
	}
	for tries := 0; first == 0 && tries < portTries; tries++ {
		first = freeRun(host, n)
	}
	if first == 0 || first+n-1 > 65535 {
		return nil, fmt.Errorf("%w: --listen %q: there are no %d ports that follow each other", errUsage, listen, n)
	}
	for i := range n {
		all = append(all, net.JoinHostPort(host, strconv.Itoa(first+i)))
	}
	return all, nil
}

// freeRun is the first of n free ports that follow each other; 0 where those behind a port that the system chose are taken.
func freeRun(host string, n int) (first int) {
	for i := range n {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(first+i)))
		if err != nil {
			return 0
		}
		defer l.Close()
		if addr, ok := l.Addr().(*net.TCPAddr); ok && i == 0 {
			first = addr.Port
		}
	}
	return first
}

// keep runs one store until ctx is done, and tells what becomes of it.
func (d *dev) keep(ctx context.Context, i int) {
	for ctx.Err() == nil {
		c := change{store: devStore{Store: i + 1, At: d.stores[i].Listen, Dir: d.stores[i].Dir}, ended: true, why: "it was told to"}
		if err := d.live(ctx, i, &c.store); err != nil {
			c.why = err.Error()
		}
		d.pass(ctx, c)
		select {
		case <-ctx.Done():
		case <-time.After(againAfter):
		}
	}
}

// pass passes a change on, unless nobody waits for it any more.
func (d *dev) pass(ctx context.Context, c change) {
	select {
	case d.changes <- c:
	case <-ctx.Done():
	}
}

// live is one life of a store.
func (d *dev) live(ctx context.Context, i int, s *devStore) error {
	cmd := exec.CommandContext(ctx, d.program, "--member")
	cmd.Stderr, cmd.WaitDelay = d.stderr, endIn
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	cmd.Cancel = in.Close
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	s.PID = cmd.Process.Pid
	if err := json.NewEncoder(in).Encode(d.stores[i]); err != nil {
		return errors.Join(err, cmd.Wait())
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		c := change{store: *s}
		if json.Unmarshal(lines.Bytes(), &c.said) == nil {
			d.pass(ctx, c)
		}
	}
	return cmd.Wait()
}

// follow prints what to join with once spaces can be made, and then what becomes of the stores, until ctx is done. A store that ends before
// that is an error.
func (d *dev) follow(ctx context.Context, asJSON bool, stdout io.Writer) error {
	limit := time.NewTimer(readyIn)
	defer limit.Stop()
	first := devJoining{Stores: make([]devStore, len(d.stores))}
	addresses, leader, ready := make([]string, len(d.stores)), false, false
	for {
		var c change
		select {
		case <-ctx.Done():
			return nil
		case <-limit.C:
			if !ready {
				return errors.New("the stores did not find each other within a minute")
			}
			continue
		case c = <-d.changes:
		}
		if c.ended && !ready {
			return fmt.Errorf("store %d ended before all were ready: %s", c.store.Store, c.why)
		}
		leader = leader || c.said.Leader
		if j := c.said.Joining; j != nil {
			addresses[c.store.Store-1], first.Stores[c.store.Store-1] = j.Address, c.store
		}
		var err error
		switch {
		case ready:
			err = tellChange(stdout, c, asJSON)
		case leader && !slices.Contains(addresses, ""):
			first.Address, ready = strings.Join(addresses, ","), true
			err = tellStores(stdout, first, asJSON)
		}
		if err != nil {
			return err
		}
	}
}

func tellStores(stdout io.Writer, j devJoining, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(stdout).Encode(j)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d stores on loopback, each of which keeps every object:\n\n", len(j.Stores))
	for _, s := range j.Stores {
		fmt.Fprintf(&text, "  store %d  process %d  %s  %s\n", s.Store, s.PID, s.At, s.Dir)
	}
	fmt.Fprintf(&text, "\nTo join with: cmemd join '%s'\n", j.Address)
	fmt.Fprintf(&text, "To see what a failure does, kill -9 one of the processes: it is started again after %v.\n", againAfter)
	_, err := io.WriteString(stdout, text.String())
	return err
}

// tellChange prints what a person may want to know of a change.
func tellChange(stdout io.Writer, c change, asJSON bool) error {
	n := notice{devStore: c.store, Why: c.why}
	text := ""
	switch {
	case c.ended:
		n.Event, text = eventEnded, fmt.Sprintf("ended (%s), and is started again in %v; the others go on", c.why, againAfter)
	case c.said.Joining != nil:
		n.Event, text = eventStarted, "is back, and fetches what it missed"
	case c.said.Leads > 0:
		n.Event, text = eventLeads, "leads what is stored"
	default:
		return nil
	}
	if asJSON {
		return json.NewEncoder(stdout).Encode(n)
	}
	_, err := fmt.Fprintf(stdout, "store %d (process %d) %s\n", c.store.Store, c.store.PID, text)
	return err
}
