package relay

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cmemd/cmemd/internal/agents/known"
	"github.com/cmemd/cmemd/internal/agents/spool"
)

// Budgets. An ordinary hook is waited for at every tool call; one that opens a session brings context, and agents let
// it take longer. See Config.
const (
	ordinaryBudget = 300 * time.Millisecond
	contextBudget  = 1500 * time.Millisecond
	diskWait       = 3 * time.Second // a disk that is busy with others may take a second for one file
)

// Config says what one hook works with. Only Agent and Home are required.
type Config struct {
	Agent   string    // lower case letters, digits, ".", "_", "-"; at most 64
	Home    string    // see Home
	Version string    // of this program, for the daemon; "" means "unknown"
	Stdin   io.Reader // the payload; nil is empty
	Stdout  io.Writer // for the reply, one write; nil discards it

	Disabled bool // the session is counted, and nothing of it is kept or said

	// A duration below 0 means what 0 means.
	Ordinary  time.Duration // from the start to the answer; 0 means 300 ms
	Context   time.Duration // the same where a session starts; 0 means 1.5 s
	InputWait time.Duration // for Stdin; 0 means 5 s
	DiskWait  time.Duration // for the disk, after the budget; 0 means 3 s

	// Dial connects to the daemon; nil means the socket of Home. Start starts one without waiting for it, and is called
	// only if Dial finds none; nil means never.
	Dial  func(context.Context) (Stream, error)
	Start func(home string) error
}

// An Outcome says what became of a payload.
type Outcome string

// The outcomes of a hook.
const (
	Nothing   Outcome = "nothing"   // there was no payload
	Posted    Outcome = "posted"    // the daemon took it
	Refused   Outcome = "refused"   // the daemon said no: 4xx or 500
	Spooled   Outcome = "spooled"   // it is on disk in the spool
	Lost      Outcome = "lost"      // neither; counted where that was possible
	Abandoned Outcome = "abandoned" // the time was up before it was known
)

// A Result says what Run did. Agents never see it: a hook always ends well.
type Result struct {
	Outcome  Outcome
	Event    string // the agent's own name of it
	Delivery string // the id that the daemon, or the spool, was given
	Started  bool   // a daemon was started
	Noticed  bool   // the person was notified that cmemd does not answer
	Err      error  // why it was not posted, for tests and debugging
}

// A hook is one run. Only the goroutine of guarded touches what is below delivery.
type hook struct {
	Config
	known    known.Agent // Config.Agent; zero: nothing is known of it
	at       time.Time
	limit    *time.Timer // at which Run returns whatever hangs; set before guarded
	safe     atomic.Bool // the payload was answered, or is in the spool
	delivery string
	spool    *spool.Spool
	payload  []byte
	result   Result
}

func newHook(cfg Config) *hook {
	now := time.Now().UTC()
	h := &hook{Config: cfg, at: now, delivery: newDeliveryID(now), spool: spool.New(cfg.Home)}
	h.known, _ = known.ByName(cfg.Agent)
	h.spool.Written = func() { h.safe.Store(true) }
	h.Ordinary = cmp.Or(max(0, cfg.Ordinary), ordinaryBudget)
	h.Context = cmp.Or(max(0, cfg.Context), contextBudget)
	h.InputWait = cmp.Or(max(0, cfg.InputWait), inputWait)
	h.DiskWait = cmp.Or(max(0, cfg.DiskWait), diskWait)
	if h.Stdin == nil {
		h.Stdin = bytes.NewReader(nil)
	}
	if h.Stdout == nil {
		h.Stdout = io.Discard
	}
	if !printable(cfg.Version) {
		h.Version = "unknown"
	}
	return h
}

// printable reports whether s may stand in a header as it is.
func printable(s string) bool {
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, odd)
}
