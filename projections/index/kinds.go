package index

import (
	"cmp"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cmemd/cmemd/events"
)

func observationDocument(r events.Record, session events.SessionID, f facts, e events.ObservationParsed, a *analyzer) *document {
	parts := []part{
		{e.Title, titleWeight}, {e.Subtitle, chosenWeight}, {e.Narrative, 1}, {strings.Join(e.Facts, "\n"), 1},
		{strings.Join(e.Concepts, "\n"), chosenWeight}, {e.Type + " " + e.TypeGiven, 1},
		{joinFiles(e.FilesModified, e.FilesRead), 1},
	}
	d := newDocument(ref{e.Observation, Observation, r.OccurredAt, r.Position, session}, parts, a)
	d.session(session, f)
	d.filter(fieldType, e.Type, e.TypeGiven)
	d.filter(fieldConcept, lowered(e.Concepts)...)
	d.files(e.FilesModified, e.FilesRead, e.FilesUnverified)
	return d
}

func summaryDocument(r events.Record, session events.SessionID, f facts, e events.SummaryParsed, a *analyzer) *document {
	parts := []part{
		{e.Request, titleWeight}, {e.Investigated, 1}, {e.Learned, 1}, {e.Completed, 1}, {e.NextSteps, 1}, {e.Notes, 1},
	}
	d := newDocument(ref{e.Summary, Summary, r.OccurredAt, r.Position, session}, parts, a)
	d.session(session, f)
	return d
}

func promptDocument(r events.Record, session events.SessionID, f facts, e events.PromptSubmitted, a *analyzer) *document {
	d := newDocument(ref{r.ID, Prompt, r.OccurredAt, r.Position, session}, []part{{e.Text, 1}}, a)
	d.session(session, f)
	return d
}

func memoryDocument(r events.Record, session events.SessionID, f facts, e events.MemorySaved, a *analyzer) *document {
	at := e.At
	if at.IsZero() {
		at = r.OccurredAt
	}
	parts := []part{
		{e.Title, weightOf(e.Title, e.Text)}, {e.Text, 1}, {strings.Join(e.Concepts, "\n"), chosenWeight}, {e.Type, 1},
		{joinFiles(e.Files), 1},
	}
	d := newDocument(ref{e.Memory, Memory, at, r.Position, groupOf(session, e)}, parts, a)
	if e.Project == "" && e.ProjectRoot == "" {
		e.Project, e.ProjectRoot = f.project, f.root
	}
	e.Session = cmp.Or(e.Session, f.native)
	d.project(e.ProjectRoot, e.Project)
	d.filter(fieldSession, e.Session, sessionTerm(session))
	d.filter(fieldAgent, f.agent)
	d.filter(fieldType, e.Type)
	d.filter(fieldConcept, lowered(e.Concepts)...)
	d.files(e.Files)
	return d
}

// weightOf is what a title's words count: one that is only the beginning of the text repeats it.
func weightOf(title, text string) int {
	if strings.HasPrefix(strings.TrimSpace(text), strings.TrimSuffix(title, "…")) {
		return 1
	}
	return titleWeight
}

// groupOf returns what stands for the session of a saved memory: its name as the saver gave it makes a group too.
func groupOf(session events.SessionID, e events.MemorySaved) events.SessionID {
	if e.Session == "" {
		return session
	}
	if id, err := events.ParseSessionID(e.Session); err == nil {
		return id
	}
	return events.SessionIDOf("", e.ProjectRoot+"\x00"+e.Project+"\x00"+e.Session)
}

// session adds the terms that a session's documents share.
func (d *document) session(id events.SessionID, f facts) {
	d.project(f.root, f.project)
	d.filter(fieldSession, sessionTerm(id), f.native)
	d.filter(fieldAgent, f.agent)
}

// measure analyses the text of docs, on as many processors as scorch would, and returns how long it is in terms.
func measure(docs []*document) (length uint64) {
	var workers sync.WaitGroup
	var sum, next atomic.Int64
	for range analysers {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(docs)); i = next.Add(1) - 1 {
				text := docs[i].fields[0]
				text.Analyze()
				sum.Add(int64(text.length))
			}
		})
	}
	workers.Wait()
	return uint64(sum.Load())
}

func sessionTerm(id events.SessionID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

func lowered(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.ToLower(strings.TrimSpace(s))
	}
	return out
}

// joinFiles lists the paths as text, the first of them.
func joinFiles(lists ...[]string) string {
	var b strings.Builder
	for _, list := range lists {
		for _, p := range list[:min(len(list), maxFiles)] {
			b.WriteString(p)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
