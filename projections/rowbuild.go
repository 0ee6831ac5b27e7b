package projections

import (
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

func promptRow(r *engine.Record) (Row, bool, error) {
	e, ok, err := engine.PayloadOf[events.PromptSubmitted](r)
	return Row{ID: r.ID, Prompt: e.Number, Text: e.Text, Private: e.Private}, ok, err
}

func memoryRow(r *engine.Record) (Row, bool, error) {
	e, ok, err := engine.PayloadOf[events.MemorySaved](r)
	return Row{
		ID: e.Memory, At: e.At, AgentSession: e.Session, Project: e.Project, ProjectRoot: e.ProjectRoot,
		Type: e.Type, Title: e.Title, Text: e.Text, Concepts: e.Concepts, FilesUnverified: e.Files,
	}, ok, err
}

func observationRow(r *engine.Record) (Row, bool, error) {
	e, ok, err := engine.PayloadOf[events.ObservationParsed](r)
	row := Row{
		ID: e.Observation, Prompt: e.Prompt, Type: e.Type, TypeGiven: e.TypeGiven, Title: e.Title, Subtitle: e.Subtitle,
		Narrative: e.Narrative, Facts: e.Facts, Concepts: e.Concepts, FilesRead: e.FilesRead,
		FilesModified: e.FilesModified, FilesUnverified: e.FilesUnverified, Claims: e.Claims, Unseen: e.Unseen,
		Turn: engine.TurnOf(r, e.Turn), Source: e.Source,
	}
	row.Flagged = flagged(row)
	return row, ok, err
}

func summaryRow(r *engine.Record) (Row, bool, error) {
	e, ok, err := engine.PayloadOf[events.SummaryParsed](r)
	row := Row{
		ID: e.Summary, Prompt: e.Prompt, Request: e.Request, Investigated: e.Investigated, Learned: e.Learned,
		Completed: e.Completed, NextSteps: e.NextSteps, Notes: e.Notes, Claims: e.Claims, Turn: engine.TurnOf(r, e.Turn), Source: e.Source,
	}
	row.Flagged = flagged(row)
	return row, ok, err
}
