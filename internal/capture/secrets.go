package capture

import (
	"context"
	"sync"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// Redact takes secrets out of a memory that somebody saves. What hooks and transcripts report has lost them before: see
// agents.Meta.
func (p *Pipeline) Redact(e events.Event) events.Event {
	m, ok := e.(events.MemorySaved)
	if !ok {
		return e
	}
	for _, text := range []*string{&m.Project, &m.ProjectRoot, &m.Type, &m.Title, &m.Text, &m.Session} {
		*text = p.cfg.redactText(*text)
	}
	m.Concepts, m.Files = p.cfg.redactTexts(m.Concepts), p.cfg.redactTexts(m.Files)
	return m
}

// redactText is s without its secrets.
func (c *Config) redactText(s string) string {
	if c.Secrets == nil || s == "" {
		return s
	}
	out, _ := c.Secrets(s, false)
	return out
}

func (c *Config) redactTexts(list []string) []string {
	if list == nil {
		return nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = c.redactText(s)
	}
	return out
}

// origin is o with the facts of its project, which its folder is bound to, and without secrets. Of a folder that is named
// after a secret nothing is asked.
func (p *Pipeline) origin(ctx context.Context, o session.Origin, age time.Duration, past bool) session.Origin {
	return p.plainOrigin(p.projects.complete(ctx, p.plainOrigin(o), age, past, p.registry.bind))
}

// plainTexts are texts that have no secrets, as far as they are remembered: sessions report the same folders again and again.
type plainTexts struct {
	mu    sync.Mutex // guards known
	known map[string]bool
}

// maxPlain is how many such texts are remembered: two for each folder in which a session works.
const maxPlain = 256

// isPlain reports whether text has no secrets.
func (p *Pipeline) isPlain(text []byte) bool {
	p.plain.mu.Lock()
	plain := p.plain.known[string(text)]
	p.plain.mu.Unlock()
	if plain {
		return true
	}
	s := string(text)
	if plain = s == p.cfg.redactText(s); plain {
		p.plain.mu.Lock()
		defer p.plain.mu.Unlock()
		if p.plain.known == nil || len(p.plain.known) >= maxPlain {
			p.plain.known = map[string]bool{}
		}
		p.plain.known[s] = true
	}
	return plain
}

// plainOrigin is o without the secrets that its folders, branch and addresses may hold. The session's name stays: it says
// which one it is.
func (p *Pipeline) plainOrigin(o session.Origin) session.Origin {
	fields := []*string{&o.Project, &o.ProjectRoot, &o.ProjectKey, &o.ProjectClaim, &o.Cwd, &o.GitRoot, &o.GitBranch, &o.Transcript}
	var room [512]byte
	all := room[:0]
	for _, f := range fields {
		all = append(append(all, *f...), '\n')
	}
	if p.isPlain(all) { // as nearly always
		return o
	}
	for _, f := range fields {
		*f = p.cfg.redactText(*f)
	}
	return o
}
