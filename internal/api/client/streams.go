package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// Alive returns nil if a daemon answers, whatever phase it is in.
func (c *Client) Alive(ctx context.Context) error {
	_, err := api.HealthRoute.Call(ctx, c, api.NoQuery{})
	return err
}

// RotateToken has the daemon make another token for its loopback address; whoever uses the old one is refused from then on.
// It works over the socket only.
func (c *Client) RotateToken(ctx context.Context) error {
	_, err := api.RotateRoute.Call(ctx, c, api.NoQuery{})
	return err
}

// Stop asks the daemon to end, in order. It has not ended yet when Stop returns.
func (c *Client) Stop(ctx context.Context) error {
	_, err := api.StopRoute.Call(ctx, c, api.StopQuery{})
	return err
}

// Export writes the log from a position on to w as JSON lines: what eventlog.Import reads. The last line says how many
// records there are, so that a copy that was cut can be told.
func (c *Client) Export(ctx context.Context, w io.Writer, from events.Position) error {
	return c.download(ctx, api.Endpoint(api.LogExportRoute), api.LogExportQuery{From: from}, w)
}

// Backup writes a whole log file to w, as the log stood at some moment after the call.
func (c *Client) Backup(ctx context.Context, w io.Writer) error {
	return c.download(ctx, api.Endpoint(api.BackupRoute), api.NoQuery{}, w)
}

func (c *Client) download(ctx context.Context, e api.Endpoint, query any, w io.Writer) error {
	res, err := c.open(ctx, e, query, nil, nil)
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
		header.Set(api.DeliveryHeader, delivery.String())
	}
	if !at.IsZero() {
		header.Set(api.OccurredHeader, at.UTC().Format(time.RFC3339Nano))
	}
	res, err := c.open(ctx, api.Endpoint(api.HookRoute), api.HookQuery{Agent: agent}, header, bytes.NewReader(payload))
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
func (c *Client) Ingest(ctx context.Context, agent, path string, r io.Reader) (out api.Ingested, err error) {
	err = c.upload(ctx, api.Endpoint(api.IngestRoute), api.IngestQuery{Agent: agent, Path: path}, r, &out)
	return out, err
}

// Import sends another memory's entries, one importer.Entry a line, and returns what became of them. Sending the same
// entries again records only what is new. Where the daemon ends before all are sent the error is ErrCut.
func (c *Client) Import(ctx context.Context, source string, r io.Reader) (out api.Imported, err error) {
	err = c.upload(ctx, api.Endpoint(api.ImportRoute), api.ImportQuery{Source: source}, r, &out)
	var failed *url.Error
	if errors.As(err, &failed) && !errors.Is(err, api.ErrNotRunning) { // it was reached, and went away while it read
		return out, cut(ctx, failed.Err)
	}
	return out, err
}

// upload sends lines of JSON as they come. A daemon that takes none of their kind says so before anything is sent.
func (c *Client) upload(ctx context.Context, e api.Endpoint, query any, r io.Reader, out any) error {
	header := http.Header{"Content-Type": {"application/x-ndjson"}, "Expect": {"100-continue"}}
	res, err := c.open(ctx, e, query, header, io.NopCloser(r))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return cut(ctx, json.NewDecoder(res.Body).Decode(out))
}

// Events calls each for every record that q chooses, those that come too, until ctx is done, each returns an error,
// which is then returned, or the daemon ends: ErrStopped where it does so in order, else ErrCut. Who was cut goes on after the last position
// that each was given.
func (c *Client) Events(ctx context.Context, q api.EventsQuery, each func(api.LogRecord) error) error {
	res, err := c.open(ctx, api.Endpoint(api.EventsRoute), q, nil, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	for m, err := range messages(res.Body) {
		if err != nil {
			return cut(ctx, err)
		}
		var r api.LogRecord
		if err := json.Unmarshal(m.data, &r); err != nil {
			return fmt.Errorf("api: /v1/events: %w", err)
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return cmp.Or(ctx.Err(), api.ErrStopped)
}

// ExportRows calls each with every row that q chooses, in the order of the log. An error of each ends it, and is returned.
func (c *Client) ExportRows(ctx context.Context, q api.ExportQuery, each func(api.Row) error) error {
	res, err := c.open(ctx, api.Endpoint(api.ExportRoute), q, nil, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	in := json.NewDecoder(bufio.NewReaderSize(res.Body, 64<<10))
	for {
		var row api.Row
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
