package model

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// TestDeadConnection: where nothing comes through a connection any more, as after a machine slept or changed its network, the question that
// finds out so is asked again over another one, within its turn.
func TestDeadConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		network := &network{conns: make(chan net.Conn), closed: make(chan struct{})}
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"proto":%q}`, r.Proto)
		}))
		_ = server.Listener.Close() // none of the system's: that is no part of a bubble
		server.Listener, server.EnableHTTP2 = network, true
		server.TLS = &tls.Config{SessionTicketsDisabled: true} // a pipe has no room for what nobody reads
		server.StartTLS()
		roots := x509.NewCertPool()
		roots.AddCert(server.Certificate())
		client, err := NewClient(Service{Name: "service"}, "m", Endpoint{URL: server.URL, Roots: roots})
		if err != nil {
			t.Fatal(err)
		}
		client.http.Transport.(*http.Transport).DialContext = network.dial
		provider, err := New(Config{Name: "service", Asker: asker{client}, Renderer: renderer{}, Form: events.FormXML})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			began := time.Now()
			reply, err := provider.Complete(t.Context(), observer.Prompt{Kind: events.TurnObservation})
			if err != nil {
				t.Errorf("after %v: %v", time.Since(began), err)
			} else if reply.Text.Len() != len("HTTP/2.0") {
				t.Errorf("an answer of %d bytes", reply.Text.Len())
			}
			network.dead.Store(network.dialled.Load())
		}
		if n := network.dialled.Load(); n != 2 {
			t.Errorf("%d connections, want 2", n)
		}
		client.CloseIdleConnections()
		network.cut()
		server.Close()
	})
}

// asker asks what the protocol is.
type asker struct{ *Client }

// Ask implements Asker.
func (a asker) Ask(ctx context.Context, q Question) (observer.Reply, error) {
	return a.Client.Ask(ctx, q, Exchange{Path: "proto", Asked: struct{}{}, Read: func(body []byte) Answer {
		var said struct{ Proto string }
		r := &Response{Status: http.StatusOK, Body: body}
		whole := r.JSON(&said)
		return Answer{Reply: observer.Reply{Text: events.NewOutput(said.Proto)}, Whole: whole}
	}})
}

// renderer asks nothing in particular.
type renderer struct{}

// Question implements Renderer.
func (renderer) Question(observer.Prompt, events.Form) Question { return Question{User: "q"} }

// network connects a client with a server in memory. Connections of which there are no more than dead lose all that is written to them.
type network struct {
	conns         chan net.Conn
	closed        chan struct{}
	once          sync.Once
	dialled, dead atomic.Int64

	mu  sync.Mutex // guards all
	all []net.Conn
}

func (n *network) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	n.mu.Lock()
	n.all = append(n.all, client, server)
	n.mu.Unlock()
	number := n.dialled.Add(1)
	n.conns <- server
	return &mortal{Conn: client, number: number, network: n}, nil
}

// cut ends all connections.
func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.all {
		_ = c.Close() // a pipe
	}
}

// Accept implements net.Listener.
func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (n *network) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

// Addr implements net.Listener.
func (n *network) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443} }

// mortal is a client's connection that may die without a word.
type mortal struct {
	net.Conn
	number  int64
	network *network
}

// Write implements net.Conn.
func (m *mortal) Write(b []byte) (int, error) {
	if m.number <= m.network.dead.Load() {
		return len(b), nil
	}
	return m.Conn.Write(b)
}
