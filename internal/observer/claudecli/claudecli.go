package claudecli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// Name is the provider's name in settings and streams.
const Name = "claude-cli"

const (
	// defaultModel is the smallest current model, at a tenth of the price of the one before it: an observer condenses, and is
	// asked often. Clients of before its time (2.1.197) take it too, and guess several times what it costs.
	defaultModel = "claude-haiku-5-5"
	// defaultGrace is many times what the client needs to end after a TERM: 60 to 120 ms were measured.
	defaultGrace = 500 * time.Millisecond
)

// ErrDir is a Config.Dir that is no absolute path.
var ErrDir = errors.New("claudecli: the folder of runs must be an absolute path")

// ErrModel is a Config.Model that the client would not read as the name of a model.
var ErrModel = errors.New("claudecli: not the name of a model")

// Config says what is started. Only Dir is required.
type Config struct {
	Dir   string        // of ours alone: what runs, system prompts, and the empty folder in which children live
	Path  string        // the client; "" means `claude` on the PATH of Env, else where its installers put it
	Model string        // as the client takes it; "" means claude-haiku-5-5
	Env   []string      // the environment that the child's is picked from, as os.Environ gives it; nil means this process's
	Grace time.Duration // from asking a child to end until it is killed; 0 means 500 ms
}

// Client asks Claude Code. It is safe for concurrent use; each question is a process of about 200 MB, so whoever asks
// bounds how many run.
type Client struct {
	dir, path, model string
	env              []string
	grace            time.Duration
}

// New returns a Client. It starts nothing and does not look for the client: one that is missing is a failure of the class
// setup of whoever asks, until it is there. It returns ErrDir and ErrModel.
func New(cfg Config) (*Client, error) {
	c := &Client{
		dir: cfg.Dir, path: cfg.Path, model: cmp.Or(cfg.Model, defaultModel),
		env: slices.Clone(cfg.Env), grace: cmp.Or(cfg.Grace, defaultGrace),
	}
	if cfg.Env == nil {
		c.env = os.Environ()
	}
	if !filepath.IsAbs(c.dir) {
		return nil, fmt.Errorf("%w: %q", ErrDir, c.dir)
	}
	if strings.HasPrefix(c.model, "-") || strings.ContainsFunc(c.model, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return nil, fmt.Errorf("%w: %q", ErrModel, c.model)
	}
	return c, nil
}

// Model names what is asked, as it was configured. A Reply names what answered.
func (c *Client) Model() string { return c.model }

// Ask puts q to the client in a child of its own, and returns when that child has ended and its group is killed. The client
// itself asks again where its service fails with 429, 5xx or a connection error, at most twice: whoever wraps a Client must
// not. Where it would wait for more than 10 s it is stopped, and the failure says until when it would have waited.
//
// A failure of the client or of its service is an *observer.Failure; ctx.Err() is a stop; an answer in another form than
// XML is model.ErrForm; a child that dies without a result is any other error. Ask may be called by many goroutines at
// once, and holds a thread while it waits.
func (c *Client) Ask(ctx context.Context, q model.Question) (observer.Reply, error) {
	if err := ctx.Err(); err != nil {
		return observer.Reply{}, err
	}
	if q.Form != "" && q.Form != events.FormXML {
		return observer.Reply{}, model.ErrForm
	}
	a, ended, err := c.run(ctx, q)
	switch {
	case ctx.Err() != nil && a != nil:
		return a.paid(), ctx.Err()
	case ctx.Err() != nil:
		return observer.Reply{}, ctx.Err()
	case err != nil:
		return observer.Reply{}, err
	}
	return a.outcome(ended)
}

// Version asks the client what it is, such as "2.1.329". A client that is missing or does not say is an *observer.Failure
// of the class setup.
func (c *Client) Version(ctx context.Context) (string, error) {
	path, err := c.find()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env, cmd.WaitDelay = childEnv(c.env, "version", os.TempDir(), 0), c.grace
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if err != nil || !isVersion(version) {
		return "", setupFailure("what is found as the client does not say its version", err)
	}
	return version, nil
}

// isVersion reports whether s is digits and dots, with perhaps something after a dash or a plus.
func isVersion(s string) bool {
	core, _, _ := strings.Cut(strings.Replace(s, "+", "-", 1), "-")
	parts := strings.Split(core, ".")
	number := func(p string) bool {
		return p != "" && strings.Trim(p, "0123456789") == ""
	}
	return len(s) <= 64 && len(parts) >= 2 && !slices.ContainsFunc(parts, func(p string) bool { return !number(p) })
}

// setupFailure is a client that cannot be asked until a person does something.
func setupFailure(message string, cause error) *observer.Failure {
	return &observer.Failure{Class: events.FailSetup, Message: message, Err: cause}
}
