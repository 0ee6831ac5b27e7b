package machines

import (
	"context"
	"fmt"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog/share"
	"github.com/cmemd/cmemd/internal/api"
)

// ask asks the daemon how the machines are.
func ask(ctx context.Context, a *terminal.App) (api.Cluster, error) {
	return terminal.Ask(ctx, a, api.ClusterRoute, api.NoQuery{})
}

// mustHaveJoined is an error where there are no machines to tell of.
func mustHaveJoined(c api.Cluster) error {
	switch {
	case !c.Joined:
		return terminal.Advise(fmt.Errorf("%w: this machine shares its memory with no other", terminal.ErrNothing), "`cmemd join` begins")
	case c.Status == nil:
		return fmt.Errorf("this machine has joined others, and shares nothing: %s", terminal.VisibleLine(c.Problem))
	}
	return nil
}

// joined is ask where this machine shares memory with others; else its error says that it does not.
func joined(ctx context.Context, a *terminal.App) (api.Cluster, error) {
	c, err := ask(ctx, a)
	if err == nil {
		err = mustHaveJoined(c)
	}
	return c, err
}

// seenWord is when a machine was seen.
func seenWord(m share.Machine) string {
	if m.Self {
		return "now"
	}
	if m.Seen.IsZero() {
		return "never"
	}
	return terminal.Moment(m.Seen)
}

// stateWord says how a machine belongs to the space.
func stateWord(m share.Machine) string {
	gone := ""
	switch {
	case m.Revoked:
		gone = "revoked " + terminal.Moment(m.Gone)
	case !m.Gone.IsZero():
		gone = "left " + terminal.Moment(m.Gone)
	}
	switch {
	case m.Self && gone != "":
		return "this machine, " + gone
	case m.Self:
		return "this machine"
	}
	return gone
}
