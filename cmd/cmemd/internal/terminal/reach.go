package terminal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
)

// AnswerWait is how long one answer may take. The daemon gives up itself after 20 s.
const AnswerWait = 30 * time.Second

// Query calls do with a client of this home's daemon, and with a context that ends when an answer is overdue.
func (a *App) Query(ctx context.Context, do func(ctx context.Context, to api.Invoker) error) error {
	return a.Stream(ctx, func(c *client.Client) error {
		limited, cancel := context.WithTimeout(ctx, AnswerWait)
		defer cancel()
		return overdue(ctx, limited, do(limited, c))
	})
}

// Ask asks the daemon of this home by r for q, and waits for the answer as Query does.
func Ask[Q, A any](ctx context.Context, a *App, r api.Route[Q, A], q Q) (answer A, err error) {
	err = a.Query(ctx, func(ctx context.Context, to api.Invoker) error {
		answer, err = r.Call(ctx, to, q)
		return err
	})
	return answer, err
}

// Answer asks the daemon by r for q, and reports what it answers: as JSON, or as show prints it. What show returns says that
// there was nothing to be shown, or not all.
func Answer[Q, A any](ctx context.Context, a *App, r api.Route[Q, A], q Q, show func(*App, A) error) error {
	answer, err := Ask(ctx, a, r, q)
	if err != nil {
		return err
	}
	return a.Report(answer, func(a *App) error { return show(a, answer) })
}

// Asking returns c as a command that asks the daemon by r, and shows what it answers as Answer does. It has the flags of r's query; its
// arguments are what stands in the path, and c takes none where it does not say which. fill, which may be nil, does with the query what else
// there is to do.
func Asking[Q, A any](a *App, c *cobra.Command, r api.Route[Q, A], fill func(c *cobra.Command, q *Q, args []string) error, show func(*App, A) error) *cobra.Command {
	var q Q
	if c.Args == nil {
		c.Args = Takes(0, 0, "")
	}
	QueryFlags(a, c, &q)
	c.RunE = func(c *cobra.Command, args []string) error {
		api.SetPath(&q, args)
		if fill != nil {
			if err := fill(c, &q, args); err != nil {
				return err
			}
		}
		return Answer(c.Context(), a, r, q, show)
	}
	return c
}

// Work has the daemon do the work of r for q, behind a meter that is called what.
func Work[Q, A any](ctx context.Context, a *App, what string, r api.Work[Q, A], q Q) (done A, err error) {
	err = a.Stream(ctx, func(c *client.Client) error {
		done, err = Measured(a, what, func(m *Meter) (A, error) { return r.Call(ctx, c, q, m.Progress) })
		return err
	})
	return done, err
}

// Await is Work which reports what came of it, as Answer does.
func Await[Q, A any](ctx context.Context, a *App, r api.Work[Q, A], what string, q Q, show func(*App, A) error) error {
	done, err := Work(ctx, a, what, r, q)
	if err != nil {
		return err
	}
	return a.Report(done, func(a *App) error { return show(a, done) })
}

// Status is how the daemon of this home does.
func (a *App) Status(ctx context.Context) (api.Status, error) {
	return Ask(ctx, a, api.StatusRoute, api.NoQuery{})
}

// Stream is query for answers that take as long as they take: as long as the daemon says that it is there.
func (a *App) Stream(ctx context.Context, do func(c *client.Client) error) error {
	return a.WithClient(func(c *client.Client) error {
		if err := c.Alive(ctx); err != nil {
			return err
		}
		return do(c)
	})
}

// overdue is err, or if that is because limited has ended, and ctx has not, what a person can do about it.
func overdue(ctx, limited context.Context, err error) error {
	if err == nil || ctx.Err() != nil || !errors.Is(limited.Err(), context.DeadlineExceeded) {
		return err
	}
	return Advise(fmt.Errorf("the daemon is there, and has not answered for %s", AnswerWait),
		"try again; if it stays so, `cmemd restart` begins anew: what it accepted is in the log")
}
