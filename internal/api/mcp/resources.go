package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

// The addresses of resources.
const (
	uriContext     = "cmemd://context"
	uriContextOf   = "cmemd://context/{project}"
	uriObservation = "cmemd://observation/{id}"
	uriSession     = "cmemd://session/{id}"
	mimeText       = "text/markdown"
)

func (s *Server) addResources() {
	s.sdk.AddResource(&mcp.Resource{
		URI: uriContext, Name: "context", Title: "Memory of this project", MIMEType: mimeText,
		Description: "What a session that starts now in this project is given",
	}, s.reads(s.contextHere))
	for _, t := range []struct {
		template mcp.ResourceTemplate
		read     func(ctx context.Context, r resource) (string, error)
	}{
		{mcp.ResourceTemplate{URITemplate: uriContextOf, Name: "project context", Title: "Memory of a project",
			Description: "What a session that starts now in a project is given; its shown name or folder, percent-encoded"}, s.contextOf},
		{mcp.ResourceTemplate{URITemplate: uriObservation, Name: "observation", Title: "One memory",
			Description: "An observation, summary, saved memory or prompt, whole, by its id"}, s.observation},
		{mcp.ResourceTemplate{URITemplate: uriSession, Name: "session", Title: "One session",
			Description: "What is remembered of a session, by its id, ours or the agent's"}, s.session},
	} {
		t.template.MIMEType = mimeText
		s.sdk.AddResourceTemplate(&t.template, s.reads(t.read))
	}
}

// resource is one reading of a resource.
type resource struct {
	here Place  // the project that the reader works in
	name string // what stands behind the address's first part, decoded
}

// reads makes a handler of read. What is not there is the protocol's own error.
func (s *Server) reads(read func(ctx context.Context, r resource) (string, error)) mcp.ResourceHandler {
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		ctx, cancel := context.WithTimeout(ctx, answerWait)
		defer cancel()
		name, ok := nameOf(req.Params.URI)
		if !ok {
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		}
		here, ctx := s.projectScope(ctx, req.Session, req.ClientCapabilities())
		answer, err := read(ctx, resource{here, name})
		var problem *api.Problem
		switch {
		case errors.As(err, &problem) && problem.Status == http.StatusNotFound:
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		case err != nil:
			return nil, errors.New(failure(err))
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: mimeText, Text: answer}}}, nil
	}
}

// nameOf is what an address names: cmemd://kind/name.
func nameOf(uri string) (string, bool) {
	rest, ok := strings.CutPrefix(uri, "cmemd://")
	if !ok || len(uri) > maxName {
		return "", false
	}
	_, name, _ := strings.Cut(rest, "/")
	name, err := url.PathUnescape(name)
	return name, err == nil
}

func (s *Server) contextHere(ctx context.Context, r resource) (string, error) {
	return s.context(ctx, r.here)
}

func (s *Server) contextOf(ctx context.Context, r resource) (string, error) {
	return s.context(ctx, s.named(r.name))
}

// context is what a session in a place is given. It is fenced already.
func (s *Server) context(ctx context.Context, place Place) (string, error) {
	if place == (Place{}) {
		return "It is not known which project this is: read cmemd://context/ with the project's name behind it.", nil
	}
	q := api.ContextQuery{Cwd: place.Root, After: s.known()}
	if place.Root == "" {
		q.Project = place.Name
	}
	answer, err := api.ContextRoute.Call(ctx, s.cfg.Memory, q)
	if err != nil || answer.Text != "" {
		return answer.Text, err
	}
	return "Nothing is remembered of project " + quoted(place.Name) + ".", nil
}

func (s *Server) observation(ctx context.Context, r resource) (string, error) {
	ids, err := cleanIDs([]string{r.name})
	if err != nil {
		return "", err
	}
	found, err := api.ObservationsRoute.Call(ctx, s.cfg.Memory, api.RowsQuery{IDs: ids, After: s.known()})
	switch {
	case err != nil:
		return "", err
	case len(found.Rows) == 0:
		return "", &api.Problem{Type: api.ProblemNotFound, Status: http.StatusNotFound}
	}
	return rowsPage(found), nil
}

// session shows a session's rows whole as long as there is room, then in short.
func (s *Server) session(ctx context.Context, r resource) (string, error) {
	found, err := api.SessionRoute.Call(ctx, s.cfg.Memory, api.IDQuery{ID: r.name})
	if err != nil {
		return "", err
	}
	one := found.Session
	p := newPage(one.Project)
	p.head = fmt.Sprintf("Session %s of %s: %s, opened %s.", one.ID, oneLine(one.Agent, 40), number.Plural(one.ToolUses, "tool use"), moment(one.OpenedAt))
	const rest = maxTokens * tokenWeight / 4 // for rows in short
	short := 0
	for i, row := range found.Rows {
		text := ""
		if short == 0 {
			text = whole(row)
		}
		if short > 0 || p.room-weight(text) < rest {
			text = indexLine(resultOf(row), one.Project)
			short++
		}
		if !p.put(text) {
			p.next(fmt.Sprintf("%d more rows are left out for length: `search` with this session finds them.", len(found.Rows)-i))
			break
		}
	}
	if len(found.Rows) == 0 {
		p.next("Nothing is remembered of it yet.")
	}
	if short > 0 {
		p.next("The last rows are in short: `get` reads them.")
	}
	return p.String(), nil
}
