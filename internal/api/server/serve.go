package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cmemd/cmemd/internal/api/stream"
	"github.com/cmemd/cmemd/internal/peer"
)

const (
	headerTimeout = 5 * time.Second  // for a request's headers
	readTimeout   = 30 * time.Second // for a whole request that is no stream
	writeTimeout  = 30 * time.Second // for a whole answer that is no stream
	idleTimeout   = 2 * time.Minute  // of a connection between requests
	maxHeader     = 64 << 10         // bytes

	// endGrace is how long requests under way may take when the server ends. The daemon has five seconds for all.
	endGrace = 2 * time.Second
)

// listeners serve on the socket and on loopback until they are ended.
type listeners struct {
	local, remote http.Handler
	peer          func(net.Conn) peer.Peer
	address       atomic.Pointer[string] // of the loopback listener; nil: there is none
	dispatcher    *dispatcher
}

// loopback is the address at which browsers find the daemon; empty: there is none.
func (s *listeners) loopback() string {
	if at := s.address.Load(); at != nil {
		return *at
	}
	return ""
}

// Local returns the handler for the unix socket: who reaches it runs as the person. Where it is served by another http.Server than
// Run's, nothing is known of who asks.
func (s *listeners) Local() http.Handler { return s.local }

// Remote returns the handler for a loopback address: it checks host, origin and token.
func (s *listeners) Remote() http.Handler { return s.remote }

// Run serves on the listeners, which it closes, until ctx is done; then streams end, requests under way get two
// seconds, and it returns nil. Unix sockets are served by Local, all others by Remote. An error of a listener ends it
// and is returned. It is called once.
func (s *listeners) Run(ctx context.Context, listeners ...net.Listener) error {
	failed := make(chan error, len(listeners))
	servers := make([]*http.Server, len(listeners))
	for i, l := range listeners {
		srv := s.server(l)
		servers[i] = srv
		if l.Addr().Network() != "unix" {
			at := l.Addr().String()
			s.address.Store(&at)
			l = &bounded{Listener: l}
		}
		go func() { failed <- srv.Serve(l) }()
	}
	var err error
	waiting := len(listeners)
	select {
	case <-ctx.Done():
	case err = <-failed:
		waiting--
	}
	s.dispatcher.life.end()
	var stops sync.WaitGroup
	for _, srv := range servers {
		stops.Go(func() { stop(srv) })
	}
	stops.Wait()
	for range waiting {
		<-failed
	}
	s.dispatcher.life.wait()
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("api: serve: %w", err)
	}
	return nil
}

func (s *listeners) server(l net.Listener) *http.Server {
	h := s.Remote()
	if l.Addr().Network() == "unix" {
		h = s.Local()
	}
	return &http.Server{
		ConnContext: withPeer(s.peer),
		Handler:     h, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.dispatcher.logger.Handler(), slog.LevelDebug),
	}
}

// stop lets requests under way end for a while, and then cuts them.
func stop(srv *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), endGrace)
	defer cancel()
	if srv.Shutdown(ctx) != nil {
		_ = srv.Close() // the error is the listener's, which is closed already
	}
}

// maxConnections is how many connections of the loopback address are open at once: who holds them open keeps out others
// there, and nobody at the socket.
const maxConnections = 256

// bounded closes a connection at once that is one too many.
type bounded struct {
	net.Listener
	open atomic.Int64
}

// Accept implements net.Listener.
func (l *bounded) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= maxConnections {
			return &boundedConn{Conn: conn, onClose: sync.OnceFunc(func() { l.open.Add(-1) })}, nil
		}
		l.open.Add(-1)
		_ = conn.Close() // there is nobody to tell
	}
}

// boundedConn is a connection that says when it is closed.
type boundedConn struct {
	net.Conn
	onClose func()
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	defer c.onClose()
	return c.Conn.Close()
}

// steady is an answer whose every write has a time limit of its own: who does not read for so long is dropped.
type steady struct {
	http.ResponseWriter
	out *stream.Writer
}

func (s *steady) Write(p []byte) (int, error) { return s.out.Write(p) }

// FlushError is what http.ResponseController looks for.
func (s *steady) FlushError() error { return s.out.Flush() }

// Unwrap is for http.ResponseController.
func (s *steady) Unwrap() http.ResponseWriter { return s.ResponseWriter }
