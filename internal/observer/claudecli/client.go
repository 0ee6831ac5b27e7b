package claudecli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

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
	Env   []string      // of the child, to which is added what makes it quiet; nil: nothing but that
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

// setupFailure is a client that cannot be asked until a person does something.
func setupFailure(message string, cause error) *observer.Failure {
	return &observer.Failure{Class: events.FailSetup, Message: message, Err: cause}
}
