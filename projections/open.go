package projections

import (
	"context"
	"errors"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/files"
	"github.com/cmemd/cmemd/projections/gain"
	"github.com/cmemd/cmemd/projections/health"
	"github.com/cmemd/cmemd/projections/injections"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/projects"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/projections/sessions"
	"github.com/cmemd/cmemd/projections/turn"
	"github.com/cmemd/cmemd/projections/usage"
)

// Views is all views of one log, in one file. Its methods are safe for concurrent use.
type Views struct {
	*engine.Views
	rowReader
	sessionReader
	fileReader
	outcomeReader
	turnReader
	healthReader
	usageReader
	projectReader
	injectionReader
	gainReader
}

// What answers from each view, under names of its own: the methods of all are those of Views.
type (
	rowReader       = rows.Reader
	sessionReader   = sessions.Reader
	fileReader      = files.Reader
	outcomeReader   = outcomes.Reader
	turnReader      = turn.Reader
	healthReader    = health.Reader
	usageReader     = usage.Reader
	projectReader   = projects.Reader
	injectionReader = injections.Reader
	gainReader      = gain.Reader
)

// Open opens the views in dir, or makes them; they are as they were left, and follow the log from there once Run or
// CatchUp is called. Views of another version, of another log, or that cannot be vouched for begin anew. The log must
// stay open as long as the views. Close must be called.
func Open(dir string, log eventlog.Reader, cfg engine.Config) (*Views, error) {
	return open(dir, log, cfg, allViews())
}

func open(dir string, log eventlog.Reader, cfg engine.Config, views []engine.View) (*Views, error) {
	v, err := engine.Open(dir, log, cfg, views)
	if err != nil {
		return nil, err
	}
	return &Views{
		Views: v, rowReader: rowReader{Views: v, Log: log}, sessionReader: sessionReader{Views: v, Log: log}, fileReader: fileReader{Views: v},
		outcomeReader: outcomeReader{Views: v}, turnReader: turnReader{Views: v}, healthReader: healthReader{Views: v},
		usageReader:   usageReader{Views: v},
		projectReader: projectReader{Views: v}, injectionReader: injectionReader{Views: v},
		gainReader: gainReader{Views: v, Log: log},
	}, nil
}

// allViews are the views, in the order in which they are listed.
func allViews() []engine.View {
	var views []engine.View
	for _, v := range rows.Views() { // prompts, observations, summaries, memories
		views = append(views, v)
	}
	return append(views,
		sessions.View{},   // one row a session: agent, project, counts, open or closed, respawns, quarantined or not
		files.View{},      // which observations and tool uses read or changed a file
		outcomes.View{},   // what became of every input, and the balance of all of them
		turn.View{},       // every request to the observer, what it settled, cost and led to
		health.View{},     // turns, drops, failures, tokens and latency by time, provider and model; pauses, respawns, quarantines
		usage.View{},      // what turns used and what came of it, by day, project, provider, model and session
		projects.View{},   // which folders are one project, as the sessions opened in them say
		injections.View{}, // which rows an agent was given, and when
	)
}

// TurnsOf returns the turns that led to a row: its own first, then those of the rows folded into it. Turns that the
// log does not hold are left out. The error is engine.ErrNotFound for an unknown row.
func (v *Views) TurnsOf(ctx context.Context, row events.ID) ([]turn.Turn, error) {
	r, err := v.Row(ctx, row)
	if err != nil {
		return nil, err
	}
	return v.Turns(ctx, r.Turns...)
}

// Turns returns the turns of ids, in their order, without those that the log does not hold.
func (v *Views) Turns(ctx context.Context, ids ...events.ID) ([]turn.Turn, error) {
	var turns []turn.Turn
	for _, id := range ids {
		t, err := v.Turn(ctx, id)
		if errors.Is(err, engine.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		turns = append(turns, t)
	}
	return turns, nil
}
