package mcp

import (
	"context"
	"fmt"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

// saveArgs are the arguments of save.
type saveArgs struct {
	Text       string   `json:"text" says:"what to remember, so that it can be understood alone" most:"60000" least:"1" required:"true"`
	Title      string   `json:"title" says:"one line; if left out, the beginning of the text" most:"200"`
	Type       string   `json:"type" says:"decision, discovery, bugfix, feature, ..." most:"60"`
	Concepts   []string `json:"concepts" says:"what it is about in a word each: gotcha, pattern, trade-off, ..." most:"50" each:"a concept" eachmost:"100"`
	Files      []string `json:"files" says:"paths that it is about" most:"100" each:"a path" eachmost:"4000"`
	Project    string   `json:"project" says:"the project: its folder or its shown name; if left out, the one you work in" most:"4000"`
	At         string   `json:"at" says:"when it was true, if not now: 2026-01-31, or how long ago: 36h, 7d"`
	Supersedes string   `json:"supersedes" says:"the handle or id of a row that this one corrects: that leaves searches and stays behind why. It is of a project that you may reach"`
}

func saveTool() spec {
	return spec{
		name: "save", title: "Remember this", hints: adds(),
		description: "Save one memory for later sessions: a decision and its reason, a preference of the user, a trap. What tools did is remembered by itself; save what they do not show. It is on disk when this returns, and shown as saved by an agent. With supersedes it corrects a row.",
	}
}

func (c call) save(ctx context.Context, in saveArgs) (string, error) {
	m := api.Memory{Text: in.Text, Title: in.Title, Type: in.Type, Concepts: in.Concepts, Files: in.Files, Supersedes: in.Supersedes}
	var err error
	if m.At, err = timeOf("at", in.At, c.cfg.Now()); err != nil {
		return "", err
	}
	switch {
	case in.Project == everywhere:
		return "", &wrongArgument{"a memory is of one project", "name it by its folder or shown name, or leave project out."}
	case in.Project != "":
		place := c.named(in.Project)
		m.Project, m.ProjectRoot = place.Name, place.Root
	case in.Supersedes == "": // else it is of the project of what it corrects
		m.Project, m.ProjectRoot = c.here.Name, c.here.Root
	}
	saved, err := api.SaveRoute.Call(ctx, c.cfg.Memory, m)
	if err != nil {
		return "", err
	}
	c.noteWritten(saved.Position)
	says := fmt.Sprintf("Saved as %s.", handleOf(saved.ID, saved.Handle))
	if len(saved.Superseded) > 0 {
		says += fmt.Sprintf(" It took the place of %s.", number.Plural(len(saved.Superseded), "row"))
	}
	return says + " It can be found at once.", nil
}
