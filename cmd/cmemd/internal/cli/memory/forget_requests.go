package memory

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/number"
)

// answer lists what agents asked to forget, or answers one of the requests.
func (f forgetCommand) answer(c *cobra.Command, a *terminal.App) error {
	ctx := c.Context()
	if !f.q.ChoosesNothing() {
		return terminal.Misused(c, "--requests, --approve and --refuse are given alone: a request says what it names")
	}
	switch {
	case f.listOpen:
		return terminal.Answer(ctx, a, api.ForgetRequestsRoute, api.NoQuery{}, showRequests)
	case f.approve == api.AllRequests || f.refuse == api.AllRequests:
		return a.Stream(ctx, func(client *client.Client) error { return f.answerAll(ctx, a, client) })
	case f.refuse != "":
		return terminal.Answer(ctx, a, api.RefuseForgetRoute, api.IDQuery{ID: f.refuse}, showRefused)
	}
	return a.Stream(ctx, func(client *client.Client) error { return f.approveRequest(ctx, a, client) })
}

// answerAll shows what is open as it is called, asks, and approves or refuses each. What was answered stays so, also beside an error.
func (f forgetCommand) answerAll(ctx context.Context, a *terminal.App, client api.Invoker) error {
	open, err := api.ForgetRequestsRoute.Call(ctx, client, api.NoQuery{})
	if err != nil {
		return err
	}
	shownOnly := f.q.DryRun || !f.yes
	if len(open.Requests) == 0 || a.JSON && shownOnly {
		return a.Report(open, func(a *terminal.App) error { return showRequests(a, open) })
	}
	if !a.JSON {
		listRequests(a, open)
	}
	question, word := "Have all of this found again?", "refused"
	if f.approve != "" {
		question, word = "Erase all of this for good?", "approved"
	}
	if ok, err := a.Confirm(ctx, question, word, f.q.DryRun, f.yes); err != nil || !ok {
		return err
	}
	var done answeredRequests
	for _, r := range open.Requests {
		err := done.answer(ctx, a, client, r, f.approve != "")
		if terminal.ExitCode(err) == terminal.ExitNothing { // it was answered meanwhile
			continue
		}
		if err != nil {
			return fmt.Errorf("%d of %d were %s: %w", done.Requests, len(open.Requests), word, err)
		}
	}
	return a.Report(done, func(a *terminal.App) error {
		a.Printf("%s: %s with %s\n", word, number.Plural(done.Requests, "request"), number.Plural(done.Rows, "row"))
		if f.approve != "" {
			return showForgotten(a, done.Forgotten)
		}
		return nil
	})
}

// answeredRequests is what became of all requests. Of the numbers in Forgotten, sessions are those of the request that named the most: others
// may name the same.
type answeredRequests struct {
	Requests int `json:"requests"`
	Rows     int `json:"rows"` // that they had hidden
	api.Forgotten
}

// answer answers one of the requests.
func (d *answeredRequests) answer(ctx context.Context, a *terminal.App, client api.Invoker, r api.OpenRequest, approve bool) error {
	if !approve {
		_, err := api.RefuseForgetRoute.Call(ctx, client, api.IDQuery{ID: r.ID.String()})
		if err != nil {
			return err
		}
	} else {
		done, err := terminal.Measured(a, "forgetting", func(m *terminal.Meter) (api.Forgotten, error) {
			return api.ApproveForgetRoute.Call(ctx, client, api.ApproveRequest{ID: r.ID.String()}, m.Progress)
		})
		if err != nil {
			return err
		}
		done.Records, done.Sessions, done.Spooled = d.Records+done.Records, max(d.Sessions, done.Sessions), d.Spooled+done.Spooled
		done.Asked, done.Refused = d.Asked+done.Asked, append(d.Refused, done.Refused...)
		d.Forgotten = done
	}
	d.Requests++
	d.Rows += len(r.Rows)
	return nil
}

// approveRequest shows what a request names, asks, and has it erased.
func (f forgetCommand) approveRequest(ctx context.Context, a *terminal.App, client api.Invoker) error {
	plan, err := api.ForgetPlanRoute.Call(ctx, client, api.ForgetRequest{Request: f.approve}.Plan(), nil)
	if err != nil {
		return err
	}
	return f.erase(ctx, a, plan, func(m *terminal.Meter) (api.Forgotten, error) {
		return api.ApproveForgetRoute.Call(ctx, client, api.ApproveRequest{ID: f.approve}, m.Progress)
	})
}

// showRequested says what becomes of what an agent wants forgotten.
func showRequested(a *terminal.App, done api.Forgotten) {
	if done.Others > 0 {
		defer a.Infof("%s of other machines fit too, and stay: an agent asks nothing of those. Forget them by `cmemd forget` in a terminal of yours",
			number.Plural(done.Others, "record"))
	}
	r := done.Request
	if r == nil {
		a.Printf("asked: nothing, for this machine recorded nothing that fits\n")
		return
	}
	a.Printf("asked: %s with %s, as %s; nothing is erased\n", number.Plural(len(r.Rows), "row"), number.Plural(r.Records, "record"), r.Name)
	a.Infof("this command was not run by a person in a terminal of theirs: what it names is in no search until %s, unless you run "+
		"`cmemd forget --approve %s` or `--refuse %s` in yours", terminal.Moment(r.Expires), r.Name, r.Name)
}

func showRequests(a *terminal.App, open api.OpenRequests) error {
	if len(open.Requests) == 0 {
		return fmt.Errorf("%w: no agent asks to forget anything", terminal.ErrNothing)
	}
	listRequests(a, open)
	a.Infof("`cmemd forget --approve REQUEST` shows what goes and erases it, `cmemd forget --refuse REQUEST` has it found again; REQUEST may be all")
	return nil
}

func listRequests(a *terminal.App, open api.OpenRequests) {
	l := terminal.List{Head: []string{"REQUEST", "ASKED", "EXPIRES", "ROWS", "RECORDS", "FOR INSTANCE"}}
	for _, r := range open.Requests {
		l.Add(r.Name, terminal.Moment(r.At), terminal.Moment(r.Expires), strconv.Itoa(len(r.Rows)), strconv.Itoa(r.Records), firstSample(r))
	}
	a.Print(l)
}

// firstSample is the beginning of what a request names.
func firstSample(r api.OpenRequest) string {
	if len(r.Sample) == 0 {
		return "(nothing is left of it)"
	}
	return r.Sample[0].Text
}

func showRefused(a *terminal.App, r api.Refused) error {
	a.Printf("refused: %s can be found again\n", number.Plural(len(r.Rows), "row"))
	return nil
}
