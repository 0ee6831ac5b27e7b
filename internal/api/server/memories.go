package server

import (
	"context"
	"fmt"
	"net/http"
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
func (s *Server) postMemory(w http.ResponseWriter, r *http.Request) error {
	if err := paramsOf(r).err(); err != nil {
		return err
	}
	var m api.Memory
	if err := readJSON(r, &m); err != nil {
		return err
	}
	if errs := memoryErrors(&m, s.cfg.Now()); len(errs) > 0 {
		return invalidAll(errs)
	}
	out, err := s.curator.Save(r.Context(), m)
	if err != nil {
		return err
	}
	return writeJSON(w, out)
}

// postUndo takes a saved memory or a correction back, or undoes that.
func (s *Server) postUndo(w http.ResponseWriter, r *http.Request) error {
	if err := paramsOf(r).err(); err != nil {
		return err
	}
	out, err := s.curator.Undo(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return writeJSON(w, out)
}

// postRecheck looks at claims again.
func (s *Server) postRecheck(w http.ResponseWriter, r *http.Request) error {
	var req api.RecheckRequest
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := readJSON(r, &req); err != nil {
		return err
	}
	if s.cfg.Checker == nil {
		return conflict("Nothing can be looked up", "this daemon has nothing to check claims with")
	}
	if len(req.IDs) > maxRows {
		return invalid("/ids", "names %d rows, where at most %d may be", len(req.IDs), maxRows)
	}
	if err := s.caughtUp(r.Context()); err != nil {
		return err
	}
	var session events.SessionID
	var err error
	if req.Session != "" {
		if session, err = s.sessionID(r.Context(), req.Session); err != nil {
			return err
		}
	}
	again, err := s.curator.Recheck(r.Context(), req, session)
	if err != nil {
		return err
	}
	return s.work(w, r, func(ctx context.Context, tell func(done, total uint64)) (any, error) { return again.Run(ctx, tell) })
}

// memoryErrors lists what is wrong with m, the fields in their order.
func memoryErrors(m *api.Memory, now time.Time) (errs []api.FieldError) {
	wrong := func(pointer, format string, args ...any) {
		errs = append(errs, api.FieldError{Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
	}
	short := func(pointer, s string, most int) {
		switch {
		case len(s) > most:
			wrong(pointer, "has %d bytes, where %d may be", len(s), most)
		case !utf8.ValidString(s):
			wrong(pointer, "is not UTF-8")
		}
	}
	short("/project", m.Project, maxMemoryWord)
	short("/project_root", m.ProjectRoot, maxParam)
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
			short(fmt.Sprintf("%s/%d", name, i), word, maxParam)
		}
	}
	return errs
}
