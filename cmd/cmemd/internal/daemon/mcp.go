package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/api/mcp"
)

const mcpHelp = `Mcp speaks the Model Context Protocol over standard input and output, for agents that ask memory by themselves. It is thin:
the daemon answers, and is started if none runs. Agents start it, each its own:

  claude mcp add cmemd -- cmemd mcp
  codex mcp add cmemd -- cmemd mcp

The daemon serves the same over HTTP, at /mcp of its address, with the bearer token from the file token of CMEMD_HOME.`

// Commands are those that run a daemon, start and stop one, and ask one for an agent.
func Commands(a *terminal.App) []*cobra.Command {
	return []*cobra.Command{newServe(a), newStart(a), newStop(a), newRestart(a), newMCP(a)}
}

func newMCP(a *terminal.App) *cobra.Command {
	return &cobra.Command{
		Use: "mcp", Short: "Serve memory to an agent over MCP, on standard input and output", Long: mcpHelp, Args: terminal.Takes(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			home, err := a.Home()
			if err != nil {
				return err
			}
			client := client.DialStarting(home, (&starter{app: a, home: home}).start)
			defer client.Close()
			err = mcp.New(mcp.Config{Memory: client, Version: a.Version, Dir: workDir(), Place: placeOf}).
				Run(c.Context(), io.NopCloser(a.In), unclosed{a.Out})
			if c.Context().Err() != nil {
				return nil // whoever started it has ended it
			}
			return err
		},
	}
}

// unclosed is a writer that somebody else closes.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// workDir is the folder that this process was started in, if that can be one of a project: agents start servers of no
// project in the person's home, or at the top.
func workDir() string {
	dir, err := os.Getwd()
	if err != nil || filepath.Dir(dir) == dir {
		return ""
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.Clean(home) == dir {
		return ""
	}
	return dir
}

// startPause is how long a start that failed is not tried again.
const startPause = time.Minute

// starter starts a daemon where a call finds none, one call at a time, and after a failure not for a while.
type starter struct {
	app  *terminal.App
	home string

	mu     sync.Mutex // held while one starts; guards the fields below
	failed error      // why the last attempt came to nothing; nil: it did not
	at     time.Time  // when that was
}

// start returns once a daemon listens that is ready, or as ready as it gets in a while.
func (s *starter) start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	client := client.Dial(s.home)
	defer client.Close()
	if client.Alive(ctx) == nil {
		return nil // another call was quicker
	}
	if s.failed != nil && s.app.Now().Sub(s.at) < startPause {
		return s.failed
	}
	if s.failed = s.launch(ctx, client); s.failed != nil {
		s.at = s.app.Now()
	}
	return s.failed
}

func (s *starter) launch(ctx context.Context, client *client.Client) error {
	if cfg, ok := relay.FromEnv(relay.Call{Agent: "mcp", Home: s.app.HomeDir}, s.app.Version, s.app.Getenv); !ok || cfg.Start == nil || cfg.Disabled {
		return errors.New("no daemon runs, and none is started here: CMEMD_DISABLE, CMEMD_OBSERVER or CMEMD_NO_START is set")
	}
	l, err := config.ForHome(s.app)
	if err != nil {
		return fmt.Errorf("the settings are not valid: %w", err)
	}
	p, err := homedir.Made(s.app)
	if err != nil {
		return err
	}
	release, err := holdStart(ctx, p) // a server of an older release must not get between a daemon and the newer one
	if err != nil {
		return err
	}
	defer release()
	if client.Alive(ctx) != nil {
		if _, err := launch(ctx, s.app, client, p, l, ""); err != nil {
			return err
		}
	}
	return new(Started).await(ctx, s.app, client)
}
