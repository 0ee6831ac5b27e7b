package storetest

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

const (
	pieceBytes  = 4 << 10 // that a Proxy carries at once
	piecesAhead = 64      // that are under way in one direction of one connection: as much as a router holds
)

// Proxy stands between stores and a server, on loopback, and fails as it is told, or is slow. Its methods are safe for concurrent
// use.
type Proxy struct {
	listener net.Listener
	to       string

	mu    sync.Mutex // guards the fields below
	fault Fault
	delay time.Duration // of each piece, each way
	rate  int           // bytes a second, each way of each connection; 0: no limit
	pairs map[net.Conn]net.Conn
	wg    sync.WaitGroup
}

// NewProxy returns a Proxy to a server's HOST:PORT. It ends with the test.
func NewProxy(t testing.TB, to string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: listener, to: to, pairs: map[net.Conn]net.Conn{}}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.Set(Cut)
		p.wg.Wait()
	})
	return p
}

// Addr is where it listens: HOST:PORT.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Set makes a fault. Connections whose answers were lost are of no use any more: healing ends them.
func (p *Proxy) Set(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.fault
	p.fault = f
	if f == Cut || was == Unheard && f == Healed {
		for near, far := range p.pairs {
			_, _ = near.Close(), far.Close()
		}
	}
}

// Slow has what comes from now on take delay each way, and no more than rate bytes a second pass each way of a connection. Zeros end
// that.
func (p *Proxy) Slow(delay time.Duration, rate int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay, p.rate = delay, rate
}

func (p *Proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", p.to)
		if err != nil || !p.add(near, far) {
			_ = near.Close()
			if err == nil {
				_ = far.Close()
			}
			continue
		}
		p.wg.Go(func() {
			defer p.end(near, far)
			p.carry(far, near)
		})
		p.wg.Go(func() {
			defer p.end(near, far)
			p.carry(&answers{p, near}, far)
		})
	}
}

func (p *Proxy) add(near, far net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault != Healed {
		return false
	}
	p.pairs[near] = far
	return true
}

func (p *Proxy) end(near, far net.Conn) {
	_, _ = near.Close(), far.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pairs, near)
}

// piece is some bytes on their way.
type piece struct {
	bytes []byte
	due   time.Time // when they arrive, where nothing is in front of them
}

// carry copies one direction of a connection until it ends.
func (p *Proxy) carry(to io.Writer, from net.Conn) {
	pieces := make(chan piece, piecesAhead)
	var written sync.WaitGroup
	written.Go(func() {
		var err error
		for next := range pieces {
			if err != nil {
				continue // the connection has ended, and its reader will see that
			}
			time.Sleep(time.Until(next.due))
			if _, err = to.Write(next.bytes); err != nil {
				_ = from.Close()
			}
			_, rate := p.slow()
			if rate > 0 {
				time.Sleep(time.Duration(len(next.bytes)) * time.Second / time.Duration(rate))
			}
		}
	})
	for {
		bytes := make([]byte, pieceBytes)
		n, err := from.Read(bytes)
		if n > 0 {
			delay, _ := p.slow()
			pieces <- piece{bytes[:n], time.Now().Add(delay)}
		}
		if err != nil {
			break
		}
	}
	close(pieces)
	written.Wait()
}

func (p *Proxy) slow() (delay time.Duration, rate int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.delay, p.rate
}

// answers is what goes back; nothing of it arrives while answers are lost.
type answers struct {
	proxy *Proxy
	near  net.Conn
}

func (a *answers) Write(b []byte) (int, error) {
	a.proxy.mu.Lock()
	lost := a.proxy.fault == Unheard
	a.proxy.mu.Unlock()
	if lost {
		return len(b), nil
	}
	return a.near.Write(b)
}
