package curation

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/clip"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/internal/privatetext"
)

// MaxList is how many concepts, and how many files, a memory may name.
const MaxList = 100

// Save records what a person or an agent wants remembered, in the place of a row if it names one. It is on disk when Save
// returns. Bounds of what m holds are the caller's.
func (c *Curator) Save(ctx context.Context, m api.Memory, by By) (api.Saved, error) {
	now := c.cfg.Now()
	if m.Supersedes != "" {
		return c.correct(ctx, m, by, now)
	}
	id := newID()
	first, at, err := c.append(ctx, now, c.cfg.Redact(savedMemory(&m, id, by.Writer, now)))
	return api.Saved{ID: id, Handle: first, Position: at}, err
}

// savedMemory is m as it is recorded: without private text, and with a title.
func savedMemory(m *api.Memory, id events.ID, by events.Writer, now time.Time) events.MemorySaved {
	e := events.MemorySaved{
		Memory: id, Project: strings.TrimSpace(Allowed(m.Project)), ProjectRoot: Allowed(m.ProjectRoot), Type: Allowed(m.Type),
		Concepts: allowedOf(m.Concepts), Files: allowedOf(m.Files), Session: Allowed(m.Session), At: m.At.UTC(),
		Text: Allowed(m.Text), Title: strings.TrimSpace(Allowed(m.Title)), Writer: by,
	}
	e.Title = cmp.Or(e.Title, firstLine(e.Text))
	if m.At.IsZero() {
		e.At = now.UTC()
	}
	if e.ProjectRoot == "" && filepath.IsAbs(e.Project) {
		p := evidence.ProjectOf(e.Project)
		e.Project, e.ProjectRoot = p.Name, p.Root
	}
	if e.Project == "" && e.ProjectRoot != "" {
		e.Project = filepath.Base(e.ProjectRoot)
	}
	return e
}

// Allowed is s without its private text.
func Allowed(s string) string {
	s, _ = privatetext.Cut(s)
	return s
}

// allowedOf is words without their private text, and without those that were all of it.
func allowedOf(words []string) []string {
	var kept []string
	for _, word := range words {
		if p := Allowed(word); p == word || strings.TrimSpace(p) != "" {
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
