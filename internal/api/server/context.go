package server

import (
	"context"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/recall"
)

// getContext answers with the memory that an agent would be given now. Nothing is recorded of it: nobody was given it.
func (s *Server) getContext(ctx context.Context, q api.ContextQuery) (out api.ContextAnswer, err error) {
	ask := recall.Ask{
		Source: q.Source, Prompt: q.Prompt, File: q.File, Now: s.cfg.Now(), Explain: q.Explain, Score: s.cfg.Briefs.Score,
		Characters: q.Characters, Tokens: q.Tokens,
	}
	switch {
	case q.Prompt != "":
		ask.Source = recall.SourcePrompt
	case q.File != "":
		ask.Source = recall.SourceFile
	}
	place, err := s.askAbout(ctx, &ask, q.Project, q.Cwd, q.Session)
	if err != nil {
		return out, err
	}
	if q.File != "" && !askAboutFile(&ask, place, q.File) {
		return out, invalid("file", "is no file of %d bytes or more: of a smaller one nothing is said", smallFile)
	}
	mem, err := s.cfg.Recall.Context(ctx, ask)
	return api.ContextAnswer{
		Position: mem.Position, Project: ask.Project, Text: mem.Text, IDs: list(mem.IDs), Characters: mem.Characters,
		Tokens: mem.Tokens, Explain: mem.Explain,
	}, err
}

// askAbout fills in the session and the project: the one that is named, else that of the folder, else the session's. It
// returns where that is.
func (s *Server) askAbout(ctx context.Context, ask *recall.Ask, project, cwd, name string) (session.Origin, error) {
	var place session.Origin
	switch {
	case isPath(project):
		place = s.cfg.Capture.Place(ctx, project)
	case project != "":
		place.Project = project
	case cwd != "":
		place = s.cfg.Capture.Place(ctx, cwd)
	}
	if name != "" {
		id, err := s.sessionID(ctx, name)
		if err != nil {
			return place, err
		}
		ask.Session = id
		if place.Project == "" && place.ProjectRoot == "" {
			known, err := s.cfg.Views.Session(ctx, id)
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
