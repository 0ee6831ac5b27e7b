package rows

import (
	"cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// View is a view whose rows are Rows of one kind: prompts, observations, summaries and memories.
type View struct {
	kind            Kind
	source          events.Kind // the event that makes a row
	stated          events.Kind // another one that does; empty: none
	make            func(r *engine.Record) (Row, bool)
	turns           bool // rows come from turns, which later turns over the same inputs replace
	foldsDuplicates bool // rows that say the same in one session, and preferences that do in one project, are one
	names           string
}

// Views returns the four views, in the order in which they are listed: what the user said; what turns kept, where equal ones of a
// session are one row with a count; one summary a summary turn, of which the newest of a session stands; what was saved by hand,
// and the ids of all that was forgotten.
func Views() []View {
	return []View{
		{kind: Prompt, source: events.KindPromptSubmitted, make: promptRow, names: "prompts"},
		{kind: Observation, source: events.KindObservationParsed, make: observationRow, turns: true, foldsDuplicates: true, names: "observations"},
		{kind: Summary, source: events.KindSummaryParsed, make: summaryRow, turns: true, names: "summaries"},
		{kind: Memory, source: events.KindMemorySaved, stated: events.KindPreferenceStated, make: memoryRow, foldsDuplicates: true, names: "memories"},
	}
}

func (v View) Name() string      { return v.names }
func (View) Reads() engine.Reads { return engine.Reads{Others: true} }

func (View) Layout() engine.Layout {
	return engine.Layout{Version: 12, Tables: []engine.TableSpec{
		rowTable().Spec(engine.ShowID), engine.FactsTable().Spec(engine.ShowID), bySessionTable().Spec(engine.ShowPlace),
		byTimeTable().Spec(engine.ShowHex), byPromptTable().Spec(engine.ShowHex),
		groupTable().Spec(engine.ShowHex), turnTable().Spec(engine.ShowID), inputTable().Spec(engine.ShowPosition),
		checkTable().Spec(engine.ShowPosition),
		newestTable().Spec(engine.ShowID), requestTable().Spec(engine.ShowID), openRequestTable().Spec(engine.ShowPosition),
		forgottenTable().Spec(engine.ShowID), decidedTable().Spec(engine.ShowID).OfJoined(),
	}}
}

func promptRow(r *engine.Record) (Row, bool) {
	e, ok := engine.PayloadOf[events.PromptSubmitted](r)
	return Row{ID: r.ID, Prompt: e.Number, Text: e.Text, Private: e.Private, Writer: events.WriterPerson}, ok
}

func memoryRow(r *engine.Record) (Row, bool) {
	if r.Kind == events.KindPreferenceStated {
		return preferenceRow(r)
	}
	e, ok := engine.PayloadOf[events.MemorySaved](r)
	return Row{
		ID: e.Memory, At: e.At, AgentSession: e.Session, Project: e.Project, ProjectRoot: e.ProjectRoot,
		Type: e.Type, Title: e.Title, Text: e.Text, Concepts: e.Concepts, FilesUnverified: e.Files,
		Writer: cmp.Or(e.Writer, events.WriterUnknown),
	}, ok
}

// preferenceRow is what a person said of how to work. It is of the project of its session.
func preferenceRow(r *engine.Record) (Row, bool) {
	e, ok := engine.PayloadOf[events.PreferenceStated](r)
	return Row{ID: r.ID, Prompt: e.Prompt, Type: events.TypePreference, Text: e.Sentence, Writer: events.WriterPerson, Sentence: e.Same}, ok
}

func observationRow(r *engine.Record) (Row, bool) {
	e, ok := engine.PayloadOf[events.ObservationParsed](r)
	row := Row{
		ID: e.Observation, Prompt: e.Prompt, Type: e.Type, TypeGiven: e.TypeGiven, Title: e.Title, Subtitle: e.Subtitle,
		Narrative: e.Narrative, Facts: e.Facts, Concepts: e.Concepts, FilesRead: e.FilesRead,
		FilesModified: e.FilesModified, FilesUnverified: e.FilesUnverified, Claims: e.Claims, Unseen: e.Unseen,
		Turn: engine.TurnOf(r, e.Turn), Source: e.Source, Origin: e.Origin, Outside: e.Outside, Unsupported: e.Unsupported,
		Writer: events.WriterObserver,
	}
	row.Flagged = flagged(row)
	return row, ok
}

func summaryRow(r *engine.Record) (Row, bool) {
	e, ok := engine.PayloadOf[events.SummaryParsed](r)
	row := Row{
		ID: e.Summary, Prompt: e.Prompt, Request: e.Request, Investigated: e.Investigated, Learned: e.Learned,
		Completed: e.Completed, NextSteps: e.NextSteps, Notes: e.Notes, Claims: e.Claims, Turn: engine.TurnOf(r, e.Turn), Source: e.Source,
		Origin: e.Origin, Unseen: e.Unseen, Unsupported: e.Unsupported,
		Writer: events.WriterObserver,
	}
	row.Flagged = flagged(row)
	return row, ok
}
