package api

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/cmemd/cmemd/hooks"
	"github.com/cmemd/cmemd/recall"
)

// getContext answers with the memory that an agent would be given now. Nothing is recorded of it: nobody was given it.
func (s *Server) getContext(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r, "project", "cwd", "session", "source", "explain", "after")
	words := []string{string(hooks.WantStartup), string(hooks.WantClear), string(hooks.WantCompact), string(hooks.WantResume)}
	project, cwd, name := p.text("project"), p.text("cwd"), p.text("session")
	source, explain, after := p.oneOf("source", words...), p.flag("explain"), p.position("after")
	if project == "" && cwd == "" && name == "" {
		p.wrong("project", "give this, cwd or session")
	}
	if cwd != "" && !isPath(cwd) {
		p.wrong("cwd", "is no absolute path")
	}
	if err := p.err(); err != nil {
		return err
	}
	if err := s.await(r.Context(), after); err != nil {
		return err
	}
	ask := recall.Ask{Source: source, Now: s.cfg.Now(), Explain: explain}
	if err := s.askAbout(r.Context(), &ask, project, cwd, name); err != nil {
		return err
	}
	mem, err := s.cfg.Recall.Context(r.Context(), ask)
	if err != nil {
		return err
	}
	return writeJSON(w, contextAnswer(ask, mem))
}

// askAbout fills in the session and the project: the one that is named, else that of the folder, else the session's.
func (s *Server) askAbout(ctx context.Context, ask *recall.Ask, project, cwd, name string) error {
	switch {
	case isPath(project):
		ask.Project, ask.ProjectRoot = filepath.Base(project), project
	case project != "":
		ask.Project = project
	case cwd != "":
		f := s.facts.of(ctx, cwd, factsAge)
		ask.Project, ask.ProjectRoot = f.project.Name, f.project.Root
	}
	if name == "" {
		return nil
	}
	id, err := s.sessionID(ctx, name)
	if err != nil {
		return err
	}
	ask.Session = id
	if ask.Project != "" || ask.ProjectRoot != "" {
		return nil
	}
	known, err := s.cfg.Views.Session(ctx, id)
	ask.Project, ask.ProjectRoot = known.Project, known.ProjectRoot
	return err
}

func contextAnswer(ask recall.Ask, mem recall.Context) ContextAnswer {
	out := ContextAnswer{
		Position: mem.Position, Project: ask.Project, Text: mem.Text, IDs: list(mem.IDs), Characters: mem.Characters,
	}
	for _, c := range mem.Explain {
		in := "out"
		if c.Chosen {
			in = "in "
		}
		out.Explain = append(out.Explain,
			fmt.Sprintf("%s  worth %.2f, %d characters, %s: %s (%s)", in, c.Worth, c.Characters, c.Why, c.Title, c.Kind))
	}
	return out
}
