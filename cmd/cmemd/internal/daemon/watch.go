package daemon

import (
	"github.com/cmemd/cmemd/internal/agents/watch"
)

// watcher follows transcripts into the log; nil: none are to be followed.
func (d *daemon) watcher() (*watch.Watcher, error) {
	rules, err := d.config.WatchRules()
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	return watch.New(watch.Config{
		Rules: rules, Exclude: []string{d.paths.Home}, State: d.paths.Watch, Sink: d.capture, Log: d.log,
		Backlog: d.config.WatchBacklog, Logger: d.logger,
	})
}
