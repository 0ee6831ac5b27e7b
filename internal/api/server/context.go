package server

import (
	"context"
	"path/filepath"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/memory/recall"
)

// contexts answers with the memory that an agent would be given.
type contexts struct {
	*sources
	capture *capture.Pipeline
	score   int // as Briefs has it
	now     func() time.Time
}

func (s *contexts) routes(to *dispatcher) []endpoint {
	return []endpoint{bind(to, api.ContextRoute, s.getContext)}
}

// getContext answers with the memory that an agent would be given now. Nothing is recorded of it: nobody was given it.
func (s *contexts) getContext(ctx context.Context, q api.ContextQuery) (out api.ContextAnswer, err error) {
	ask := recall.Ask{
		Source: q.Source, Prompt: q.Prompt, File: q.File, Now: s.now(), Explain: q.Explain, Score: s.score,
		Characters: q.Characters, Tokens: q.Tokens,
	}
	switch {
	case q.Prompt != "":
		ask.Source = recall.SourcePrompt
	case q.File != "":
		ask.Source = recall.SourceFile
	}
	place, err := s.fillAsk(ctx, &ask, q.Project, q.Cwd, q.Session)
	if err != nil {
		return out, err
	}
	if q.File != "" && !askAboutFile(&ask, place, q.File) {
		return out, invalid("file", "is no file of %d bytes or more: of a smaller one nothing is said", smallFileBytes)
	}
	mem, err := s.Recall.Context(ctx, ask)
	mem.IDs = list(mem.IDs)
	return api.ContextAnswer{Project: ask.Project, Context: mem}, err
}

// fillAsk fills in the session and the project: the one that is named, else that of the folder, else the session's. It
// returns where that is.
func (s *contexts) fillAsk(ctx context.Context, ask *recall.Ask, project, cwd, sessionName string) (session.Origin, error) {
	var place session.Origin
	switch {
	case filepath.IsAbs(project):
		place = s.capture.Place(ctx, project)
	case project != "":
		place.Project = project
	case cwd != "":
		place = s.capture.Place(ctx, cwd)
	}
	if sessionName != "" {
		id, err := s.sessionID(ctx, sessionName)
		if err != nil {
			return place, err
		}
		ask.Session = id
		if place.Project == "" && place.ProjectRoot == "" {
			known, err := s.Views.Session(ctx, id)
			if err != nil {
				return place, err
			}
			place = session.Origin{Project: known.Project, ProjectRoot: known.ProjectRoot, Cwd: known.Cwd, GitRoot: known.GitRoot}
		}
	}
	ask.Project, ask.ProjectRoot, ask.ProjectKey = place.Project, place.ProjectRoot, place.ProjectKey
	ask.Exists = inTree(treeOf(place), place.ProjectRoot)
	return place, nil
}
