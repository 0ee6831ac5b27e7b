package api

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"strings"

	"github.com/cmemd/cmemd/events"
)

// Observations is Rows for who must read what was just written.
func (c *Client) Observations(ctx context.Context, q RowsQuery) (Rows, error) {
	v := newValues().text("ids", strings.Join(q.IDs, ",")).number("after", uint64(q.After))
	return ask[Rows](ctx, c, "GET", "/v1/observations", v.Values, nil)
}

// WhyAsOf is Why as it was known at an earlier moment. What was not recorded yet then is a *Problem with status 404.
func (c *Client) WhyAsOf(ctx context.Context, q WhyQuery) (Why, error) {
	v := newValues().time("as_of", q.AsOfAt).number("as_of", uint64(q.AsOf))
	return ask[Why](ctx, c, "GET", "/v1/why/"+url.PathEscape(q.ID), v.Values, nil)
}

// Inputs returns what a row was made of as it was captured: what the tools were given and what they printed. Next of one
// answer is after of the next; limit 0 means 50, at most 500.
func (c *Client) Inputs(ctx context.Context, id string, after events.Position, limit int) (Inputs, error) {
	v := newValues().number("after", uint64(after)).number("limit", uint64(max(limit, 0)))
	return ask[Inputs](ctx, c, "GET", "/v1/observations/"+url.PathEscape(id)+"/inputs", v.Values, nil)
}

// Forget has what q chooses erased for good, with all that was made of it, and returns when it is gone from every file of
// the daemon's home. Progress may be nil. What is begun is done whole, whoever waits.
func (c *Client) Forget(ctx context.Context, q ForgetRequest, progress func(Progress)) (Forgotten, error) {
	q.DryRun = false
	return work[Forgotten](ctx, c, "POST", "/v1/forget", nil, q, progress)
}

// PlanForget says what q would have erased. Nothing is.
func (c *Client) PlanForget(ctx context.Context, q ForgetRequest) (ForgetPlan, error) {
	q.DryRun = true
	return work[ForgetPlan](ctx, c, "POST", "/v1/forget", nil, q, nil)
}

// Undo takes back a saved memory, or a correction: what it had corrected stands again. Undone once more, it is as before.
func (c *Client) Undo(ctx context.Context, id string) (Undone, error) {
	return ask[Undone](ctx, c, "POST", "/v1/memories/"+url.PathEscape(id)+"/undo", nil, nil)
}

func (q ExportQuery) values() url.Values {
	v := newValues().text("project", q.Project).time("since", q.Since).time("until", q.Until)
	for _, k := range q.Kinds {
		v.Add("kind", k)
	}
	return v.Values
}

// ExportRows calls each with every row that q chooses, in the order of the log. An error of each ends it, and is returned.
func (c *Client) ExportRows(ctx context.Context, q ExportQuery, each func(Row) error) error {
	res, err := c.Do(ctx, "GET", "/v1/export", q.values(), nil, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	in := json.NewDecoder(bufio.NewReaderSize(res.Body, 64<<10))
	for {
		var row Row
		switch err := in.Decode(&row); {
		case err == io.EOF:
			return nil
		case err != nil:
			return cut(ctx, err)
		}
		if err := each(row); err != nil {
			return err
		}
	}
}
