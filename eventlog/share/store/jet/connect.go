package jet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Config is how a server is used; the zero value is good.
type Config struct {
	Timeout time.Duration // of one call, beside what its body takes at 500 kbit/s; 0 means 5 s
}

const (
	timeout       = 5 * time.Second
	pingEvery     = 10 * time.Second // two pings unanswered end a connection; NATS takes 2 minutes
	dialFor       = 5 * time.Second
	reconnectLow  = 100 * time.Millisecond
	reconnectHigh = 10 * time.Second
)

// Jet is a store.Store in NATS JetStream. It keeps one connection, which comes back by itself.
type Jet struct {
	conn    *nats.Conn
	trouble trouble
	js      jetstream.JetStream
	timeout time.Duration
	done    chan struct{} // closed by Close

	mu      sync.Mutex                  // guards the fields below
	streams map[string]jetstream.Stream // by space, those that were looked at
	calls   map[*call]struct{}          // under way
	closed  bool
}

// call is one call under way.
type call struct{ end context.CancelFunc }

// Open connects to the servers of a store, as ParseAddresses reads them. It tries each once, for 5 s at most; then it goes on by
// itself, and until there is a connection calls fail as may pass. The error is ErrAddress.
func Open(addresses string, config Config) (*Jet, error) {
	all, err := ParseAddresses(addresses)
	if err != nil {
		return nil, err
	}
	if config.Timeout <= 0 {
		config.Timeout = timeout
	}
	j := &Jet{
		timeout: config.Timeout, done: make(chan struct{}),
		streams: map[string]jetstream.Stream{}, calls: map[*call]struct{}{},
	}
	if j.conn, err = j.connect(all); err != nil {
		return nil, fmt.Errorf("jet: open: %w", err)
	}
	if j.js, err = jetstream.New(j.conn); err != nil {
		j.conn.Close()
		return nil, fmt.Errorf("jet: open: %w", err)
	}
	return j, nil
}

// trouble is why the last attempt to connect failed; nil since there was a connection. nats.go keeps only what a server said.
type trouble struct {
	mu  sync.Mutex // guards err
	err error
}

func (t *trouble) set(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = err
}

func (t *trouble) last() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Dial implements nats.CustomDialer.
func (t *trouble) Dial(network, address string) (net.Conn, error) {
	conn, err := net.DialTimeout(network, address, dialFor)
	if err != nil {
		t.set(err)
	}
	return conn, err
}

func (j *Jet) connect(addresses []Address) (*nats.Conn, error) {
	var urls []string
	for _, a := range addresses {
		urls = append(urls, a.URL.String())
	}
	options := []nats.Option{
		nats.Name("cmemd"), nats.Timeout(dialFor), nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2),
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.CustomReconnectDelay(pause),
		nats.IgnoreDiscoveredServers(), // only those that the address names, and pins
		nats.ReconnectBufSize(-1),      // what is asked while there is no connection fails, and is not done later
		nats.SetCustomDialer(&j.trouble), nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { j.trouble.set(err) }),
		nats.ConnectHandler(func(*nats.Conn) { j.trouble.set(nil) }), nats.ReconnectHandler(func(*nats.Conn) { j.trouble.set(nil) }),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { j.endCalls() }),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // instead of printing it; LastError has it
	}
	if len(addresses[0].Pin) > 0 {
		options = append(options, nats.Secure(pinned(addresses, j.trouble.set)))
	}
	return nats.Connect(strings.Join(urls, ","), options...)
}

// pause is how long to wait after all servers were tried so many times.
func pause(attempts int) time.Duration {
	return min(reconnectLow<<min(attempts, 10), reconnectHigh) + rand.N(reconnectLow)
}

func (j *Jet) begin(end context.CancelFunc) *call {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := &call{end}
	j.calls[c] = struct{}{}
	return c
}

func (j *Jet) end(c *call) {
	c.end()
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.calls, c)
}

// endCalls ends those that are under way.
func (j *Jet) endCalls() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for c := range j.calls {
		c.end()
	}
}

func (j *Jet) isClosed() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.closed
}
