package projections

import (
	"context"
	"errors"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/health"
	"github.com/cmemd/cmemd/projections/usage"
)

// Views is all views of one log, in one file. Its methods are safe for concurrent use.
type Views struct {
	*engine.Views
	RowReader
	OutcomeReader
	SessionReader
	TurnReader
	FileReader
	ProjectReader
	InjectionReader
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
	return &Views{
		Views: v, RowReader: RowReader{v, log}, SessionReader: SessionReader{v, log}, OutcomeReader: OutcomeReader{v},
		TurnReader: TurnReader{v}, FileReader: FileReader{v}, ProjectReader: ProjectReader{v}, InjectionReader: InjectionReader{v},
	}, nil
}

func allViews() []engine.View {
	var views []engine.View
	for _, rows := range rowViews() {
		views = append(views, rows)
	}
	return append(views, sessionView{}, fileView{}, outcomeView{}, turnView{}, health.View{}, usage.View{}, projectView{}, injectionView{})
}

// Health returns how the observer did from since to until, both included; a zero until is the end of all time, a zero
// since the beginning, or health.Kept before the newest turn if that is later. What is not well is told as of now.
func (v *Views) Health(ctx context.Context, since, until time.Time) (health.Report, error) {
	return health.Read(ctx, v.Views, since, until)
}

// HealthWindows returns how the observer did in the hour, the day and the week before now.
func (v *Views) HealthWindows(ctx context.Context, now time.Time) (health.Windows, error) {
	return health.ReadWindows(ctx, v.Views, now)
}

// Usage returns what the chosen turns cost, in groups in order of their fields. Turns that run are not in it.
func (v *Views) Usage(ctx context.Context, f usage.Filter) ([]usage.Group, error) {
	return usage.Read(ctx, v.Views, f)
}

// UsageOf returns what all turns of a session cost, by provider, then model.
func (v *Views) UsageOf(ctx context.Context, session events.SessionID) ([]usage.Model, error) {
	return usage.ReadSession(ctx, v.Views, session)
}

// TurnsOf returns the turns that led to a row: its own first, then those of the rows folded into it. Turns that the
// log does not hold are left out. The error is engine.ErrNotFound for an unknown row.
func (v *Views) TurnsOf(ctx context.Context, row events.ID) ([]Turn, error) {
	r, err := v.Row(ctx, row)
	if err != nil {
		return nil, err
	}
	var turns []Turn
	for _, id := range r.Turns {
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
