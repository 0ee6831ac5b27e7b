package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// Config is what a Server works with. Only Memory is required.
type Config struct {
	Memory  api.Invoker            // a client of a running daemon, or the daemon itself
	Version string                 // of this program, for clients; empty means unknown
	Dir     string                 // absolute: the folder that the agent works in, where its client names none; empty: not known
	Place   func(dir string) Place // the project of a folder; nil: each folder is one
	NoForms bool                   // what a client answers in a form is not the person's word: whoever holds the token may be any program
	Now     func() time.Time       // nil means time.Now
	Logger  *slog.Logger           // for panics; nil: none
	Idle    time.Duration          // after which a client that speaks HTTP is forgotten. 0 means an hour
}

// Server answers clients of the protocol. Its methods are safe for concurrent use.
type Server struct {
	cfg         Config
	sdk         *mcp.Server
	handler     http.Handler
	secret      [32]byte      // binds a confirmation to what it confirms; of this process alone
	lastWritten atomic.Uint64 // the last position that was written here: answers know it
}

// New returns a Server. It panics without a Memory.
func New(cfg Config) *Server {
	if cfg.Memory == nil {
		panic("mcp: a memory is required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.Version = cmp.Or(cfg.Version, "unknown")
	if cfg.Idle <= 0 {
		cfg.Idle = time.Hour
	}
	s := &Server{cfg: cfg}
	_, _ = rand.Read(s.secret[:]) // never fails
	s.sdk = mcp.NewServer(&mcp.Implementation{Name: "cmemd", Title: "cmemd, memory of earlier work", Version: cfg.Version},
		&mcp.ServerOptions{Instructions: instructions(), Capabilities: &mcp.ServerCapabilities{}, SetCacheable: ofOnePerson})
	s.sdk.AddReceivingMiddleware(s.guarded)
	s.addTools()
	s.addResources()
	s.addPrompts()
	s.handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.sdk }, &mcp.StreamableHTTPOptions{
		SessionTimeout: cfg.Idle, MaxRequestBodyBytes: maxRequest, PropagateRequestCancellation: true,
	})
	return s
}

// ofOnePerson marks what is answered as nobody else's.
func ofOnePerson(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" }

// maxRequest is the longest request in bytes, over HTTP or in a line: a saved memory is the longest there is.
const maxRequest = 1 << 20

// endWait is how long the end of Run waits for a client that does not read what was answered.
const endWait = 2 * time.Second

// Run serves one client over in and out until in ends, which is no error, or ctx is done, whose error it returns. A line that is no
// message is answered with an error, and ends nothing. It closes both, but where the client has not read for endWait after ctx was done: a
// write to it goes on then until out is closed.
func (s *Server) Run(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	ended := make(chan error, 1)
	go func() { ended <- s.sdk.Run(ctx, &stdio{in: in, out: out}) }()
	err := awaitEnd(ctx, ended)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// awaitEnd returns what ended yields, or the error of ctx endWait after it is done.
func awaitEnd(ctx context.Context, ended <-chan error) error {
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(endWait):
		return ctx.Err()
	}
}

// ServeHTTP serves clients that speak HTTP. Who they are, and where they come from, its caller has checked.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close forgets all clients.
func (s *Server) Close() error {
	var errs []error
	for session := range s.sdk.Sessions() {
		errs = append(errs, session.Close())
	}
	return errors.Join(errs...)
}

// noteWritten remembers what was written, so that later answers know it.
func (s *Server) noteWritten(at events.Position) {
	for {
		was := s.lastWritten.Load()
		if uint64(at) <= was || s.lastWritten.CompareAndSwap(was, uint64(at)) {
			return
		}
	}
}

// known is what an answer must know.
func (s *Server) known() events.Position { return events.Position(s.lastWritten.Load()) }
