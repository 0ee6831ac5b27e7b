package daemon

import (
	"context"
	"io"

	"github.com/cmemd/cmemd/internal/agents/watch"
	"github.com/cmemd/cmemd/internal/api/server"
)

// watcher follows transcripts into a server; nil: none are to be followed.
func (d *daemon) watcher() (*watch.Watcher, error) {
	rules, err := d.config.WatchRules()
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	return watch.New(watch.Config{
		Rules: rules, Exclude: []string{d.paths.Home}, State: d.paths.Watch, Sink: feeds{d.server}, Backlog: d.config.WatchBacklog,
		Logger: d.logger,
	})
}

// feeds has transcripts recorded by a server.
type feeds struct{ server *server.Server }

// Open implements watch.Sink.
func (f feeds) Open(agent, path string) (watch.Reading, error) {
	feed, err := f.server.Feed(agent, path)
	if err != nil {
		return nil, err
	}
	return reading{feed}, nil
}

type reading struct{ feed *server.Feed }

// Take implements watch.Reading.
func (r reading) Take(ctx context.Context, in io.Reader, rest bool) (watch.Taken, error) {
	got, err := r.feed.Take(ctx, in, rest)
	return watch.Taken{Offset: got.Offset, Lines: got.Lines, Captured: got.Captured, Bad: got.Malformed}, err
}
