package claudecli

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// Name is the provider's name in settings and streams.
const Name = "claude-cli"

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
