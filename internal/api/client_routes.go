package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Search finds rows by their words and by filters.
func (c *Client) Search(ctx context.Context, q SearchQuery) (SearchResults, error) {
	return ask[SearchResults](ctx, c, "GET", "/v1/search", q.values(), nil)
}

// Context returns the memory that an agent would be given now. Nothing is recorded of it.
func (c *Client) Context(ctx context.Context, q ContextQuery) (ContextAnswer, error) {
	return ask[ContextAnswer](ctx, c, "GET", "/v1/context", q.values(), nil)
}

// Save appends a memory. It is on disk when Save returns.
func (c *Client) Save(ctx context.Context, m Memory) (Saved, error) {
	return ask[Saved](ctx, c, "POST", "/v1/memories", nil, m)
}

// Row returns one row of any kind by its id, or by the beginning of it: 8 hex digits or more that no other row shares.
func (c *Client) Row(ctx context.Context, id string) (Row, error) {
	return ask[Row](ctx, c, "GET", "/v1/observations/"+url.PathEscape(id), nil, nil)
}

// Rows returns rows by their ids or the beginnings of them. Those that are not found are named, not an error.
func (c *Client) Rows(ctx context.Context, ids ...string) (Rows, error) {
	return ask[Rows](ctx, c, "POST", "/v1/rows", nil, RowsRequest{IDs: ids})
}

// RowsRequest is the body of POST /v1/rows.
type RowsRequest struct {
	IDs []string `json:"ids"`
}

// Why returns the chain behind a row.
func (c *Client) Why(ctx context.Context, id string) (Why, error) {
	return ask[Why](ctx, c, "GET", "/v1/why/"+url.PathEscape(id), nil, nil)
}

// Timeline returns what happened around an anchor.
func (c *Client) Timeline(ctx context.Context, q TimelineQuery) (Timeline, error) {
	return ask[Timeline](ctx, c, "GET", "/v1/timeline", q.values(), nil)
}

// Sessions lists sessions, the latest first.
func (c *Client) Sessions(ctx context.Context, q SessionsQuery) (Sessions, error) {
	return ask[Sessions](ctx, c, "GET", "/v1/sessions", q.values(), nil)
}

// Session returns one session by our id, or 8 hex digits or more of its beginning that no other has, or the agent's own.
func (c *Client) Session(ctx context.Context, id string) (SessionDetail, error) {
	return ask[SessionDetail](ctx, c, "GET", "/v1/sessions/"+url.PathEscape(id), nil, nil)
}

// Release ends the quarantine of a session. A session that is free is a *Problem with status 409.
func (c *Client) Release(ctx context.Context, id string) (Released, error) {
	return ask[Released](ctx, c, "POST", "/v1/sessions/"+url.PathEscape(id)+"/release", nil, nil)
}

// Outcomes lists inputs by what became of them, and the balance.
func (c *Client) Outcomes(ctx context.Context, q OutcomesQuery) (Outcomes, error) {
	return ask[Outcomes](ctx, c, "GET", "/v1/outcomes", q.values(), nil)
}

// Status returns what the daemon is doing.
func (c *Client) Status(ctx context.Context) (Status, error) {
	return ask[Status](ctx, c, "GET", "/v1/status", nil, nil)
}

// Alive returns nil if a daemon answers, whatever phase it is in.
func (c *Client) Alive(ctx context.Context) error {
	return c.call(ctx, "GET", "/healthz", nil, nil, nil)
}

// Ready returns the phase of the daemon's start. A daemon that is not ready yet is no error.
func (c *Client) Ready(ctx context.Context) (Readiness, error) {
	return ask[Readiness](ctx, c, "GET", "/readyz", url.Values{"always": {"1"}}, nil)
}

// RotateToken has the daemon make another token for its loopback address; whoever uses the old one is refused from then on.
// It works over the socket only.
func (c *Client) RotateToken(ctx context.Context) error {
	return c.call(ctx, "POST", "/v1/token/rotate", nil, nil, nil)
}

// Stop asks the daemon to end, in order. It has not ended yet when Stop returns.
func (c *Client) Stop(ctx context.Context) error {
	return c.call(ctx, "POST", "/v1/stop", nil, nil, nil)
}

// Projections lists the views and the search index.
func (c *Client) Projections(ctx context.Context) ([]View, error) {
	return ask[[]View](ctx, c, "GET", "/v1/projections", nil, nil)
}

// Inspect lays one view open: the entries whose key is key or begins with it, at most limit; 0 means 20.
func (c *Client) Inspect(ctx context.Context, name, key string, limit int) (Inspection, error) {
	q := newValues().text("key", key).number("limit", uint64(max(limit, 0)))
	return ask[Inspection](ctx, c, "GET", "/v1/projections/"+url.PathEscape(name), q.Values, nil)
}

// LogStats returns what the log holds.
func (c *Client) LogStats(ctx context.Context) (LogStats, error) {
	return ask[LogStats](ctx, c, "GET", "/v1/log/stats", nil, nil)
}

// Records returns a stretch of the log.
func (c *Client) Records(ctx context.Context, q RecordsQuery) (Records, error) {
	v := newValues().number("from", uint64(q.From)).number("limit", uint64(max(q.Limit, 0))).
		text("stream", string(q.Stream)).flag("payload", q.Payload)
	return ask[Records](ctx, c, "GET", "/v1/log/records", v.Values, nil)
}

// Export writes the log from a position on to w as JSON lines: what eventlog.Import reads. The last line says how many
// records there are, so that a copy that was cut can be told.
func (c *Client) Export(ctx context.Context, w io.Writer, from events.Position) error {
	return c.download(ctx, "/v1/log/export", newValues().number("from", uint64(from)).Values, w)
}

// Backup writes a whole log file to w, as the log stood at some moment after the call.
func (c *Client) Backup(ctx context.Context, w io.Writer) error {
	return c.download(ctx, "/v1/log/backup", nil, w)
}

func (c *Client) download(ctx context.Context, path string, q url.Values, w io.Writer) error {
	res, err := c.Do(ctx, "GET", path, q, nil, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	own := &writer{w: w}
	if _, err := io.Copy(own, res.Body); own.err == nil {
		return cut(ctx, err)
	}
	return own.err
}

// writer remembers its own errors, to tell them from those of what is read.
type writer struct {
	w   io.Writer
	err error
}

func (w *writer) Write(p []byte) (n int, err error) {
	n, w.err = w.w.Write(p)
	return n, w.err
}

// Hook posts one hook payload as an agent's hook does and returns the reply for the agent, which may be empty. A zero
// delivery or time is made by the daemon.
func (c *Client) Hook(ctx context.Context, agent string, payload []byte, delivery events.ID, at time.Time) ([]byte, error) {
	header := http.Header{}
	if delivery != (events.ID{}) {
		header.Set(DeliveryHeader, delivery.String())
	}
	if !at.IsZero() {
		header.Set(OccurredHeader, at.UTC().Format(time.RFC3339Nano))
	}
	res, err := c.Do(ctx, "POST", "/v1/hooks/"+url.PathEscape(agent), nil, header, strings.NewReader(string(payload)))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	reply, err := io.ReadAll(res.Body)
	return reply, cut(ctx, err)
}

// Ingest sends a transcript of agent and returns what became of it. Path names it in the record; its content is read
// from r alone. Progress may be measured at r: the daemon takes no more than it has worked on. Sending the same
// transcript again, or after it grew, records only what is new. A transcript of which no line was understood is no error.
func (c *Client) Ingest(ctx context.Context, agent, path string, r io.Reader) (out Ingested, err error) {
	// A daemon that takes no transcripts of this agent says so before anything is sent.
	header := http.Header{"Content-Type": {"application/x-ndjson"}, "Expect": {"100-continue"}}
	q := newValues().text("path", path)
	res, err := c.Do(ctx, "POST", "/v1/ingest/"+url.PathEscape(agent), q.Values, header, io.NopCloser(r))
	if err != nil {
		return out, err
	}
	defer res.Body.Close()
	err = json.NewDecoder(res.Body).Decode(&out)
	return out, cut(ctx, err)
}

// Import sends another memory's entries, one importer.Entry a line, and returns what became of them. Sending the same
// entries again records only what is new. Where the daemon ends before all are sent the error is ErrCut.
func (c *Client) Import(ctx context.Context, source string, r io.Reader) (out Imported, err error) {
	header := http.Header{"Content-Type": {"application/x-ndjson"}, "Expect": {"100-continue"}}
	res, err := c.Do(ctx, "POST", "/v1/import/"+url.PathEscape(source), nil, header, io.NopCloser(r))
	var failed *url.Error
	switch {
	case errors.As(err, &failed) && !errors.Is(err, ErrNotRunning): // it was reached, and went away while it read
		return out, cut(ctx, failed.Err)
	case err != nil:
		return out, err
	}
	defer res.Body.Close()
	err = json.NewDecoder(res.Body).Decode(&out)
	return out, cut(ctx, err)
}

// Verify has the daemon check the whole log and says how it ended. Progress may be nil.
func (c *Client) Verify(ctx context.Context, progress func(Progress)) (Verified, error) {
	return work[Verified](ctx, c, "GET", "/v1/log/verify", nil, nil, progress)
}

// Rebuild has views made anew; no names means all, the search index included. Answers come from the old ones meanwhile.
// Progress may be nil.
func (c *Client) Rebuild(ctx context.Context, names []string, progress func(Progress)) (Rebuilt, error) {
	return work[Rebuilt](ctx, c, "POST", "/v1/projections/rebuild", nil, RebuildRequest{Names: names}, progress)
}

// RebuildRequest is the body of POST /v1/projections/rebuild.
type RebuildRequest struct {
	Names []string `json:"names"`
}

// Events calls each for every record that q chooses, those that come too, until ctx is done, each returns an error,
// which is then returned, or the daemon ends: ErrCut. Who was cut goes on after the last position that each was given.
func (c *Client) Events(ctx context.Context, q EventsQuery, each func(LogRecord) error) error {
	res, err := c.Do(ctx, "GET", "/v1/events", q.values(), nil, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	for m, err := range messages(res.Body) {
		if err != nil {
			return cut(ctx, err)
		}
		var r LogRecord
		if err := json.Unmarshal(m.data, &r); err != nil {
			return fmt.Errorf("api: /v1/events: %w", err)
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return cut(ctx, io.ErrUnexpectedEOF)
}

// values collects the parameters that are not zero.
type values struct{ url.Values }

func newValues() values { return values{url.Values{}} }

func (v values) text(name, s string) values {
	if s != "" {
		v.Set(name, s)
	}
	return v
}

func (v values) number(name string, n uint64) values {
	if n != 0 {
		v.Set(name, strconv.FormatUint(n, 10))
	}
	return v
}

func (v values) flag(name string, on bool) values {
	if on {
		v.Set(name, "1")
	}
	return v
}

func (v values) time(name string, t time.Time) values {
	if !t.IsZero() {
		v.Set(name, t.UTC().Format(time.RFC3339Nano))
	}
	return v
}

// whole adds a number that may be 0.
func (v values) whole(name string, n *int) values {
	if n != nil {
		v.Set(name, strconv.Itoa(*n))
	}
	return v
}

func (q SearchQuery) values() url.Values {
	return newValues().text("q", q.Text).text("project", q.Project).text("kind", q.Kind).text("type", q.Type).
		text("concept", q.Concept).text("file", q.File).text("session", q.Session).text("agent", q.Agent).
		time("since", q.Since).time("until", q.Until).time("as_of", q.AsOfAt).number("as_of", uint64(q.AsOf)).
		text("sort", q.Sort).whole("recency", q.Recency).flag("facets", q.Facets).flag("explain", q.Explain).
		number("limit", uint64(max(q.Limit, 0))).number("offset", uint64(max(q.Offset, 0))).
		number("after", uint64(q.After)).Values
}

func (q ContextQuery) values() url.Values {
	return newValues().text("project", q.Project).text("cwd", q.Cwd).text("session", q.Session).
		text("source", q.Source).text("prompt", q.Prompt).text("file", q.File).flag("explain", q.Explain).
		number("characters", uint64(max(q.Characters, 0))).number("tokens", uint64(max(q.Tokens, 0))).
		number("after", uint64(q.After)).Values
}

func (q TimelineQuery) values() url.Values {
	return newValues().text("anchor", q.Anchor).text("query", q.Query).text("project", q.Project).
		number("before", uint64(max(q.Before, 0))).number("after", uint64(max(q.After, 0))).Values
}

func (q SessionsQuery) values() url.Values {
	return newValues().text("project", q.Project).text("agent", q.Agent).time("since", q.Since).
		flag("open", q.OpenOnly).number("limit", uint64(max(q.Limit, 0))).Values
}

func (q OutcomesQuery) values() url.Values {
	return newValues().text("outcome", q.Outcome).text("class", q.Class).text("reason", q.Reason).text("kind", q.Kind).
		text("turn", q.Turn).text("session", q.Session).text("project", q.Project).time("since", q.Since).
		time("until", q.Until).number("before", uint64(q.Before)).number("limit", uint64(max(q.Limit, 0))).Values
}

func (q EventsQuery) values() url.Values {
	kinds := make([]string, len(q.Kinds))
	for i, k := range q.Kinds {
		kinds[i] = string(k)
	}
	return newValues().number("after", uint64(q.After)).flag("tail", q.Tail).text("stream", string(q.Stream)).
		text("kinds", strings.Join(kinds, ",")).flag("payload", q.Payload).Values
}
