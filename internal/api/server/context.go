package server

import (
	"context"
	"net/http"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/recall"
)

// contextRequest is what was asked about the memory that an agent would be given.
type contextRequest struct {
	recall.Ask
	project, cwd, name string
	after              events.Position
}

// readContext reads the parameters of a request for context.
func (s *Server) readContext(r *http.Request) (c contextRequest, err error) {
	p := paramsOf(r, "project", "cwd", "session", "source", "prompt", "file", "characters", "tokens", "explain", "after")
	words := []string{string(agents.WantStartup), string(agents.WantClear), string(agents.WantCompact), string(agents.WantResume)}
	c.project, c.cwd, c.name, c.after = p.text("project"), p.text("cwd"), p.text("session"), p.position("after")
	c.Ask = recall.Ask{
		Source: p.oneOf("source", words...), Prompt: p.text("prompt"), File: p.text("file"), Now: s.cfg.Now(),
		Explain: p.flag("explain"), Score: s.cfg.Briefs.Score,
		Characters: p.number("characters", 0, recall.MaxCharacters), Tokens: p.number("tokens", 0, recall.MaxCharacters),
	}
	if c.project == "" && c.cwd == "" && c.name == "" {
		p.wrong("project", "give this, cwd or session")
	}
	for name, path := range map[string]string{"cwd": c.cwd, "file": c.File} {
		if path != "" && !isPath(path) {
			p.wrong(name, "is no absolute path")
		}
	}
	given := 0
	for source, text := range map[string]string{c.Source: c.Source, recall.SourcePrompt: c.Prompt, recall.SourceFile: c.File} {
		if text != "" {
			c.Source = source
			given++
		}
	}
	if given > 1 {
		p.wrong("source", "give one of this, prompt and file")
	}
	return c, p.err()
}

// getContext answers with the memory that an agent would be given now. Nothing is recorded of it: nobody was given it.
func (s *Server) getContext(w http.ResponseWriter, r *http.Request) error {
	c, err := s.readContext(r)
	if err != nil {
		return err
	}
	if err := s.await(r.Context(), c.after); err != nil {
		return err
	}
	place, err := s.askAbout(r.Context(), &c.Ask, c.project, c.cwd, c.name)
	if err != nil {
		return err
	}
	if file := c.File; file != "" && !askAboutFile(&c.Ask, place, file) {
		return invalid("file", "is no file of %d bytes or more: of a smaller one nothing is said", smallFile)
	}
	mem, err := s.cfg.Recall.Context(r.Context(), c.Ask)
	if err != nil {
		return err
	}
	return writeJSON(w, api.ContextAnswer{
		Position: mem.Position, Project: c.Project, Text: mem.Text, IDs: list(mem.IDs), Characters: mem.Characters,
		Tokens: mem.Tokens, Explain: mem.Explain,
	})
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
