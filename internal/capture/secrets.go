package capture

import (
	"context"
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
	return p.cfg.plainOrigin(p.projects.complete(ctx, p.cfg.plainOrigin(o), age, past, p.registry.bind))
}

// plainOrigin is o without the secrets that its folders, branch and addresses may hold. The session's name stays: it says
// which one it is.
func (c *Config) plainOrigin(o session.Origin) session.Origin {
	fields := []*string{&o.Project, &o.ProjectRoot, &o.ProjectKey, &o.ProjectClaim, &o.Cwd, &o.GitRoot, &o.GitBranch, &o.Transcript}
	var room [512]byte
	all := room[:0]
	for _, f := range fields {
		all = append(append(all, *f...), '\n')
	}
	if text := string(all); text == c.redactText(text) { // as nearly always
		return o
	}
	for _, f := range fields {
		*f = c.redactText(*f)
	}
	return o
}
