package server

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/signin"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/memory/curation"
	"github.com/cmemd/cmemd/internal/peer"
	"github.com/cmemd/cmemd/internal/replay"
	"github.com/cmemd/cmemd/projections/usage"
)

// System is what acts on sessions. An *actors.System is one.
type System interface {
	curation.System
	// Resume ends the pause of a provider.
	Resume(ctx context.Context, provider string) (events.Position, error)
}

// Config is what a Server needs. Where a field does not say what its zero value means it is required.
type Config struct {
	Stores
	Services
	Daemon
	Access
	Bounds

	Briefs Briefs      // memory beside the start of sessions
	Price  usage.Price // what tokens of a provider's model cost. It must be quick. nil: that is never known
	MCP    HandlerMCP  // nil: there is no /mcp
	// Types are what observations may be of in each life on record, for replay; nil: as in the code mode
	Types replay.TypesOf
	// Viewer is the page, below /ui/. What it sets of Cache-Control holds; without it nothing is kept
	Viewer http.Handler

	Logger *slog.Logger     // nil: discarded
	Now    func() time.Time // nil: time.Now
	NewID  func() events.ID // UUIDv7s of releases, of requests to observe again and of given memory; nil: from crypto/rand
}

// HandlerMCP makes the face that answers at /mcp by asking the server itself.
type HandlerMCP func(memory api.Invoker) http.Handler

// Services are what carries out what is asked for.
type Services struct {
	System    System
	Capture   *capture.Pipeline // takes what hooks, transcripts and imports report
	Spool     *spool.Spool      // what hooks kept, and dead letters; shown, and searched by who forgets. nil: there is none
	Checker   curation.Checker
	Eraser    curation.Eraser
	Machines  Machines         // that share memory with this one; nil: none can
	Scratch   curation.Scratch // for what sets views beside those that the log leads to
	Providers []api.Provider   // that may be asked: the chosen one, what stands in for it, then those of tiers alone
}

// Daemon is what status shows of the process, and how it is asked to end.
type Daemon struct {
	Home     string            // its notes of unanswered hooks are read
	Version  string            // of the program
	PID      int               // of this process
	Settings map[string]string // in force; secrets never
	LeftOut  []api.LeftOut     // variables of the environment that do not count

	// Damage is what is known of damage of the log; nil: nothing is. It must be quick
	Damage func() *api.LogDamage
	// Sharing says whether this machine is in a space with others, and what keeps its memory from being shared, in words. It must be
	// quick
	Sharing func(ctx context.Context) (joined bool, wrong []string)
	// Unserved is the loopback address that could not be had; nil: there is none. It must be safe for concurrent use
	Unserved func() *api.Unserved
	// Notice is a line for the person at the start of a session, or nothing. It must be quick
	Notice func(ctx context.Context) string
	// Shutdown is called, once or more, when somebody asks the daemon to stop. It must not wait for that
	Shutdown func(cause string)
}

// Access is who gets in over the loopback address.
type Access struct {
	Token    string           // empty: nobody
	Browsers *signin.Register // are let in too
	// NewToken makes another token and keeps it, for POST /v1/token/rotate. It must be safe for concurrent use
	NewToken func() (string, error)

	// Peer looks at the other end of a connection, once at most.
	Peer func(net.Conn) peer.Peer
	// Projects are those that agents may reach by their tools beside the one that they work in, by folder or shown name; "*": all.
	Projects []string
}

func (c Config) withDefaults() Config {
	c.ContextTimeout = cmp.Or(c.ContextTimeout, 1200*time.Millisecond)
	c.Briefs.Timeout = cmp.Or(c.Briefs.Timeout, 150*time.Millisecond)
	c.HookTimeout = cmp.Or(c.HookTimeout, capture.AppendTimeout)
	c.WaitTimeout = cmp.Or(c.WaitTimeout, 5*time.Second)
	c.MaxRequests = cmp.Or(c.MaxRequests, 512)
	c.MaxStreams = cmp.Or(c.MaxStreams, 64)
	c.MaxBodies = cmp.Or(c.MaxBodies, 128<<20)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func() events.ID { return uuid.Must(uuid.NewV7()) }
	}
	return c
}
