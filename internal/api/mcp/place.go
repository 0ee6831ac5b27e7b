package mcp

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cmemd/cmemd/internal/api"
)

// Place is the project that a folder belongs to.
type Place struct {
	Name string // as people call it
	Root string // absolute
}

// everywhere is the project that stands for all of them, where the person lets agents read them.
const everywhere = api.EveryProject

// rootsWait is how long a client may take to say which folders it works in.
const rootsWait = 2 * time.Second

// placeOfFolder is an absolute path as the Place that it is in.
func (s *Server) placeOfFolder(dir string) Place {
	if s.cfg.Place == nil {
		return Place{Name: filepath.Base(dir), Root: dir}
	}
	return s.cfg.Place(dir)
}

// named is the project that a caller names: by a folder, or by its shown name, which has no root.
func (s *Server) named(project string) Place {
	if filepath.IsAbs(project) {
		return s.placeOfFolder(project)
	}
	return Place{Name: project}
}

// here is the project that the agent works in: that of the first folder which its client names, else that of the
// configured one. The zero Place if neither is known.
func (s *Server) here(ctx context.Context, session *mcp.ServerSession, can *mcp.ClientCapabilities) Place {
	dir := s.cfg.Dir
	if root := firstRoot(ctx, session, can); root != "" {
		dir = root
	}
	if dir == "" {
		return Place{}
	}
	return s.placeOfFolder(dir)
}

// projectScope returns the project that the agent works in, and ctx of questions that are kept to it.
func (s *Server) projectScope(ctx context.Context, session *mcp.ServerSession, can *mcp.ClientCapabilities) (Place, context.Context) {
	place := s.here(ctx, session, can)
	return place, api.KeptTo(ctx, place.Root)
}

// firstRoot asks the client for the folders it works in; empty: it names none.
func firstRoot(ctx context.Context, session *mcp.ServerSession, can *mcp.ClientCapabilities) string {
	//lint:ignore SA1019 clients of today say it so; those of tomorrow start the server in their folder, or name the project
	if session == nil || can == nil || can.RootsV2 == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, rootsWait)
	defer cancel()
	//lint:ignore SA1019 as above
	answer, err := session.ListRoots(ctx, nil)
	if err != nil {
		return "" // a newer protocol has no such question
	}
	for _, r := range answer.Roots {
		if dir, ok := pathOf(r.URI); ok {
			return dir
		}
	}
	return ""
}

// pathOf is the absolute path that a file URI names on this machine.
func pathOf(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return "", false
	}
	path := filepath.FromSlash(u.Path)
	if !filepath.IsAbs(path) && strings.HasPrefix(u.Path, "/") {
		path = filepath.FromSlash(strings.TrimPrefix(u.Path, "/")) // file:///C:/work
	}
	return path, filepath.IsAbs(path)
}
