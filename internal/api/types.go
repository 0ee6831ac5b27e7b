package api

import (
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/health"
	"github.com/cmemd/cmemd/projections/injections"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/projections/sessions"
	"github.com/cmemd/cmemd/projections/turn"
)

// What the views already say in words of their own goes over the wire as it is.
type (
	Row           = rows.Row              // one observation, summary, saved memory or prompt
	Handle        = rows.Handle           // the short name of a row
	EntryPart     = recall.EntryPart      // another row of a result's entry
	Session       = sessions.Session      // one agent session
	Input         = outcomes.Input        // one input and its outcome
	Balance       = outcomes.Balance      // what became of all inputs
	Turn          = turn.Turn             // one request to the observer
	Injection     = injections.Injection  // memory that an agent was given
	Health        = health.Report         // how the observer has been doing
	Finding       = health.Finding        // one thing that is not well
	HealthWindows = health.Windows        // how the observer did in the last hour, day and week
	View          = engine.Info           // one view: rows, bytes, checkpoint, lag
	Inspection    = engine.Inspection     // one view laid open
	LogStats      = eventlog.Stats        // what the log holds
	Result        = recall.Item           // one row in short: enough to decide whether to read it whole
	Facets        = recall.Facets         // how what a search matches is spread
	Count         = recall.Count          // how many rows have a value
	Verdict       = rows.Verdict          // a claim, and what was found of it then and later
	Ingested      = capture.Ingested      // what became of a transcript
	SilentSession = capture.SilentSession // a session of which nothing more may come
	Settled       = capture.Settled       // what became of such sessions
	Imported      = capture.Imported      // what became of another memory's entries
)
