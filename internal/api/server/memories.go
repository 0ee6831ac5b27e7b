package server

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/capture/privacy"
	"github.com/cmemd/cmemd/internal/clip"
)

// Bounds of a saved memory. A longer one is a document, and belongs into a file.
const (
	maxMemoryText  = 64 << 10 // bytes
	maxMemoryTitle = 500      // bytes
	maxMemoryWord  = 200      // bytes of a name, type or concept
	maxMemoryList  = 100      // concepts, or files
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
	now := s.cfg.Now()
	if errs := memoryErrors(&m, now); len(errs) > 0 {
		return invalidAll(errs)
	}
	if m.Supersedes != "" {
		return s.correct(r.Context(), w, m, now)
	}
	id := s.cfg.NewID()
	at, err := s.curated(r.Context(), now, s.cfg.Capture.Redact(savedMemory(&m, id, now)))
	if err != nil {
		return err
	}
	return writeJSON(w, api.Saved{ID: id, Position: at})
}

// curated appends what a person or an agent decided of memory, all or nothing, and returns where that ends.
func (s *Server) curated(ctx context.Context, now time.Time, decided ...events.Event) (events.Position, error) {
	drafts := make([]events.Draft, len(decided))
	for i, e := range decided {
		drafts[i] = events.Draft{ID: s.cfg.NewID(), OccurredAt: now, Event: e}
	}
	records, err := eventlog.AppendEnd(ctx, s.cfg.Log, events.Daemon, drafts...)
	if err != nil {
		return 0, fmt.Errorf("api: save: %w", err)
	}
	return records[len(records)-1].Position, nil
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
	if strings.TrimSpace(allowed(m.Text)) == "" {
		wrong("/text", "is empty")
	}
	short("/session", m.Session, maxMemoryWord)
	short("/type", m.Type, maxMemoryWord)
	short("/supersedes", m.Supersedes, maxMemoryWord)
	if !m.At.IsZero() && (m.At.Year() < 1970 || m.At.After(now.Add(futureSlack))) {
		wrong("/at", "lies before 1970 or in the future")
	}
	for name, words := range map[string][]string{"/concepts": m.Concepts, "/files": m.Files} {
		if len(words) > maxMemoryList {
			wrong(name, "has %d entries, where %d may be", len(words), maxMemoryList)
			continue
		}
		for i, word := range words {
			short(fmt.Sprintf("%s/%d", name, i), word, maxParam)
		}
	}
	return errs
}

// savedMemory is m as it is recorded: without private text, and with a title.
func savedMemory(m *api.Memory, id events.ID, now time.Time) events.MemorySaved {
	e := events.MemorySaved{
		Memory: id, Project: strings.TrimSpace(allowed(m.Project)), ProjectRoot: allowed(m.ProjectRoot), Type: allowed(m.Type),
		Concepts: allowedOf(m.Concepts), Files: allowedOf(m.Files), Session: allowed(m.Session), At: m.At.UTC(),
		Text: allowed(m.Text), Title: strings.TrimSpace(allowed(m.Title)),
	}
	if e.Title == "" {
		e.Title = firstLine(e.Text)
	}
	if m.At.IsZero() {
		e.At = now.UTC()
	}
	if e.ProjectRoot == "" && isPath(e.Project) {
		p := projectOf(e.Project)
		e.Project, e.ProjectRoot = p.Name, p.Root
	}
	if e.Project == "" && e.ProjectRoot != "" {
		e.Project = filepath.Base(e.ProjectRoot)
	}
	return e
}

// allowed is s without its private text.
func allowed(s string) string {
	s, _ = privacy.CutPrivate(s)
	return s
}

// allowedOf is words without their private text, and without those that were all of it.
func allowedOf(words []string) []string {
	var kept []string
	for _, word := range words {
		if p := allowed(word); p == word || strings.TrimSpace(p) != "" {
			kept = append(kept, p)
		}
	}
	return kept
}

// titleLength is how much of a text stands for its title, in bytes.
const titleLength = 80

// firstLine is the beginning of text, cut at a word where that is near.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(line)
	if len(line) <= titleLength {
		return line
	}
	line = clip.Head(line, titleLength)
	if i := strings.LastIndexByte(line, ' '); i > titleLength/2 {
		line = line[:i]
	}
	return line + "…"
}
