package projections

import (
	"github.com/cmemd/cmemd/events"
)

func promptRow(r *record) (Row, bool, error) {
	e, ok, err := payloadOf[events.PromptSubmitted](r)
	return Row{ID: r.ID, Prompt: e.Number, Text: e.Text, Private: e.Private}, ok, err
}

func memoryRow(r *record) (Row, bool, error) {
	e, ok, err := payloadOf[events.MemorySaved](r)
	return Row{
		ID: e.Memory, At: e.At, AgentSession: e.Session, Project: e.Project, ProjectRoot: e.ProjectRoot,
		Type: e.Type, Title: e.Title, Text: e.Text, Concepts: e.Concepts, FilesUnverified: e.Files,
	}, ok, err
}

func observationRow(r *record) (Row, bool, error) {
	e, ok, err := payloadOf[events.ObservationParsed](r)
	row := Row{
		ID: e.Observation, Prompt: e.Prompt, Type: e.Type, TypeGiven: e.TypeGiven, Title: e.Title, Subtitle: e.Subtitle,
		Narrative: e.Narrative, Facts: e.Facts, Concepts: e.Concepts, FilesRead: e.FilesRead,
		FilesModified: e.FilesModified, FilesUnverified: e.FilesUnverified, Claims: e.Claims, Unseen: e.Unseen,
		Turn: turnOf(r, e.Turn),
	}
	row.Flagged = flagged(row)
	return row, ok, err
}

func summaryRow(r *record) (Row, bool, error) {
	e, ok, err := payloadOf[events.SummaryParsed](r)
	row := Row{
		ID: e.Summary, Prompt: e.Prompt, Request: e.Request, Investigated: e.Investigated, Learned: e.Learned,
		Completed: e.Completed, NextSteps: e.NextSteps, Notes: e.Notes, Claims: e.Claims, Turn: turnOf(r, e.Turn),
	}
	row.Flagged = flagged(row)
	return row, ok, err
}

// flagged reports whether the row names files that nobody touched, or makes a claim whose latest verdict is absent.
func flagged(row Row) bool {
	if row.Unseen {
		return true
	}
	for _, c := range row.Claims {
		if latest(row, c).Verdict == events.Absent {
			return true
		}
	}
	return false
}

func latest(row Row, c events.Claim) events.Claim {
	for i := len(row.Checks) - 1; i >= 0; i-- {
		if later := row.Checks[i].Claim; later.Kind == c.Kind && later.Value == c.Value {
			return later
		}
	}
	return c
}
