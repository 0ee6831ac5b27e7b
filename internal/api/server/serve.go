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

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/stream"
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

// Local returns the handler for the unix socket: who reaches it runs as the person. Where it is served by another http.Server than
// Run's, nothing is known of who asks.
func (s *Server) Local() http.Handler { return s.local }

// Remote returns the handler for a loopback address: it checks host, origin and token.
func (s *Server) Remote() http.Handler { return s.remote }

// Run serves on the listeners, which it closes, until ctx is done; then streams end, requests under way get two
// seconds, and it returns nil. Unix sockets are served by Local, all others by Remote. An error of a listener ends it
// and is returned. It is called once.
func (s *Server) Run(ctx context.Context, listeners ...net.Listener) error {
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
	s.life.end()
	var stops sync.WaitGroup
	for _, srv := range servers {
		stops.Go(func() { stop(srv) })
	}
	stops.Wait()
	for range waiting {
		<-failed
	}
	s.life.wait()
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("api: serve: %w", err)
	}
	return nil
}

func (s *Server) server(l net.Listener) *http.Server {
	h := s.Remote()
	if l.Addr().Network() == "unix" {
		h = s.Local()
	}
	return &http.Server{
		ConnContext: withPeer(s.access.Peer),
		Handler:     h, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
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

// mux serves every route. Patterns without a method answer the rest with a problem.
func (s *Server) mux() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, e := range s.endpoints {
		mux.Handle(pattern, e.wrap(e.guarded))
	}
	if s.mcp != nil {
		mux.Handle(pathMCP, s.stream(s.serveMCP))
	}
	mux.Handle("GET "+pathPage, s.unary(s.browsers.servePage))
	mux.Handle("/", s.unary(func(_ http.ResponseWriter, r *http.Request) error { return unrouted(mux, r) }))
	return mux
}

// unrouted says whether a path is wrong, or only its method.
func unrouted(mux *http.ServeMux, r *http.Request) error {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := mux.Handler(other); pattern != "/" && pattern != "" {
			return &api.Problem{
				Type: api.ProblemMethod, Title: "Not by this method", Status: http.StatusMethodNotAllowed,
				Detail: "this path takes " + method,
			}
		}
	}
	return notFound("there is no such path; what there is begins with /v1")
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

// pathMCP is where the daemon speaks the Model Context Protocol.
const pathMCP = "/mcp"

// serveMCP hands a request to the face that Config.MCP made. Its answers may be streams. It is agents', and no page's.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) error {
	if callerOf(r.Context()).scope < api.ScopeOwn {
		return forbidden("this is for agents: the page asks the routes below /v1")
	}
	s.mcp.ServeHTTP(&steady{ResponseWriter: w, out: stream.NewWriter(w)}, r)
	return nil
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
