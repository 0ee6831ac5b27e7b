package server

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/curation"
)

// Bounds of a saved memory. A longer one is a document, and belongs into a file.
const (
	maxMemoryText  = 64 << 10 // bytes
	maxMemoryTitle = 500      // bytes
	maxMemoryWord  = 200      // bytes of a name, type or concept
	futureSlack    = 24 * time.Hour
)

// postMemory appends what a person or an agent wants remembered. It is on disk when it is answered.
func (s *Server) postMemory(ctx context.Context, m api.Memory) (api.Saved, error) {
	if errs := memoryErrors(&m, s.cfg.Now()); len(errs) > 0 {
		return api.Saved{}, invalidAll(errs)
	}
	return s.curator.Save(ctx, m)
}

// postUndo takes a saved memory or a correction back, or undoes that.
func (s *Server) postUndo(ctx context.Context, q api.IDQuery) (api.Undone, error) {
	return s.curator.Undo(ctx, q.ID)
}

// postRecheck looks at claims again.
func (s *Server) postRecheck(ctx context.Context, q api.RecheckRequest) (task[api.Rechecked], error) {
	if s.cfg.Checker == nil {
		return nil, conflict("Nothing can be looked up", "this daemon has nothing to check claims with")
	}
	if len(q.IDs) > api.MaxRows {
		return nil, invalid("/ids", "names %d rows, where at most %d may be", len(q.IDs), api.MaxRows)
	}
	if err := s.caughtUp(ctx); err != nil {
		return nil, err
	}
	var session events.SessionID
	var err error
	if q.Session != "" {
		if session, err = s.sessionID(ctx, q.Session); err != nil {
			return nil, err
		}
	}
	again, err := s.curator.Recheck(ctx, q, session)
	if err != nil {
		return nil, err
	}
	return again.Run, nil
}

// memoryErrors lists what is wrong with m, the fields in their order.
func memoryErrors(m *api.Memory, now time.Time) (errs []api.FieldError) {
	wrong := noteIn(&errs)
	short := func(pointer, s string, most int) {
		switch {
		case len(s) > most:
			wrong(pointer, "has %d bytes, where %d may be", len(s), most)
		case !utf8.ValidString(s):
			wrong(pointer, "is not UTF-8")
		}
	}
	short("/project", m.Project, maxMemoryWord)
	short("/project_root", m.ProjectRoot, api.MaxParam)
	short("/title", m.Title, maxMemoryTitle)
	short("/text", m.Text, maxMemoryText)
	if strings.TrimSpace(curation.Allowed(m.Text)) == "" {
		wrong("/text", "is empty")
	}
	short("/session", m.Session, maxMemoryWord)
	short("/type", m.Type, maxMemoryWord)
	short("/supersedes", m.Supersedes, maxMemoryWord)
	if !m.At.IsZero() && (m.At.Year() < 1970 || m.At.After(now.Add(futureSlack))) {
		wrong("/at", "lies before 1970 or in the future")
	}
	for name, words := range map[string][]string{"/concepts": m.Concepts, "/files": m.Files} {
		if len(words) > curation.MaxList {
			wrong(name, "has %d entries, where %d may be", len(words), curation.MaxList)
			continue
		}
		for i, word := range words {
			short(fmt.Sprintf("%s/%d", name, i), word, api.MaxParam)
		}
	}
	return errs
}
