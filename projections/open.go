package projections

import (
	"errors"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/projections/engine"
)

// ErrNotFound is an id, a session, a turn or a position that the views do not know.
var ErrNotFound = errors.New("projections: not found")

// Views is all views of one log, in one file. Its methods are safe for concurrent use.
type Views struct {
	*engine.Views
	log eventlog.Log
}

// Open opens the views in dir, or makes them; they are as they were left, and follow the log from there once Run or
// CatchUp is called. Views of another version, of another log, or that cannot be vouched for begin anew. The log must
// stay open as long as the views. Close must be called.
func Open(dir string, log eventlog.Log, cfg engine.Config) (*Views, error) {
	return open(dir, log, cfg, allViews())
}

func open(dir string, log eventlog.Log, cfg engine.Config, views []engine.View) (*Views, error) {
	v, err := engine.Open(dir, log, cfg, views)
	if err != nil {
		return nil, err
	}
	return &Views{Views: v, log: log}, nil
}

func allViews() []engine.View {
	var views []engine.View
	for _, rows := range rowViews() {
		views = append(views, rows)
	}
	return append(views, sessionView{}, fileView{}, outcomeView{}, turnView{}, healthView{}, usageView{}, projectView{}, injectionView{})
}
