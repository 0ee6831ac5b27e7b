package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/sessions"
)

const (
	// shortestBeginning is the shortest beginning of an id in hex digits: shorter ones are slips rather than names.
	shortestBeginning = 8

	// maxChoices is how many ids an ambiguous beginning is answered with.
	maxChoices = 8

	// scannedSessions is how many of a project's sessions are looked at where something of them is wanted.
	scannedSessions = 10_000
)

// sessionID reads our id of a session or the beginning of it that no other has, or an agent's own: then it is the session
// of the first agent that has one.
func (s *sources) sessionID(ctx context.Context, text string) (events.SessionID, error) {
	if len(text) > api.MaxParam {
		return events.SessionID{}, invalid("session", "is longer than %d bytes", api.MaxParam)
	}
	var candidates []events.SessionID
	if id, err := events.ParseSessionID(text); err == nil {
		candidates = append(candidates, id)
	}
	for _, agent := range agents.Names() {
		candidates = append(candidates, events.SessionIDOf(agent, text))
	}
	for _, id := range candidates {
		_, err := s.Views.Session(ctx, id)
		if err == nil || !errors.Is(err, engine.ErrNotFound) {
			return id, err
		}
	}
	var found []events.SessionID
	var err error
	if len(hexDigits(text)) >= shortestBeginning {
		found, err = s.Views.ResolveSession(ctx, text, maxChoices)
	}
	if err == nil && len(found) == 0 {
		err = notFound("there is no session of that id, ours or an agent's")
	}
	return onlyOne("session", found, err)
}

// turnID reads a turn's id, or the beginning of it that no other has.
func (s *sources) turnID(ctx context.Context, text string) (events.ID, error) {
	text = strings.TrimSpace(text)
	if len(hexDigits(text)) < shortestBeginning {
		return events.ID{}, invalid("turn", "is no id: give a UUID, or 8 or more of its first hex digits")
	}
	found, err := s.Views.ResolveTurn(ctx, text, maxChoices)
	if err == nil && len(found) == 0 {
		err = notFound("there is no turn of that id")
	}
	return onlyOne("turn", found, err)
}

// onlyOne is the only one of the things that were found, of which several make an error.
func onlyOne[ID fmt.Stringer](what string, found []ID, err error) (one ID, _ error) {
	switch {
	case err != nil:
		return one, err
	case len(found) > 1:
		return one, ambiguous(what, what, found)
	}
	return found[0], nil
}

// ambiguous names the things of a kind that the beginning of an id, a parameter, stands for.
func ambiguous[ID fmt.Stringer](what, param string, choices []ID) *api.Problem {
	p := &api.Problem{
		Type: api.ProblemAmbiguous, Title: "More than one " + what + " begins so", Status: http.StatusConflict, Detail: "give more digits",
	}
	for _, id := range choices {
		p.Errors = append(p.Errors, api.FieldError{Pointer: param, Detail: "may be " + id.String()})
	}
	return p
}

func hexDigits(id string) string { return strings.ToLower(strings.ReplaceAll(id, "-", "")) }

// sessionTerm is what rows of the session that text names are found by: our id in full where text is the beginning of it, and
// else text itself, which may be a name that whoever saved a memory gave.
func (s *sources) sessionTerm(ctx context.Context, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	id, err := s.sessionID(ctx, text)
	if isNotFound(err) {
		return text, nil
	}
	if err == nil && strings.HasPrefix(hexDigits(id.String()), hexDigits(text)) {
		return id.String(), nil
	}
	return text, err
}

// isNotFound reports whether err is the problem that something is not there.
func isNotFound(err error) bool {
	p, ok := errors.AsType[*api.Problem](err)
	return ok && p.Status == http.StatusNotFound
}

// projectOf is the project that a request names: the one that a folder is of, whichever worktree or folder of it that is, or
// the one of a shown name, of which nothing else is known.
func (s *sources) projectOf(ctx context.Context, named string) capture.Project {
	if !filepath.IsAbs(named) {
		return capture.Project{Name: named}
	}
	return s.place(ctx, named)
}

// filterOf is a project as searches and timelines are narrowed to it: its root, else its name, and what identifies it.
func (s *sources) filterOf(ctx context.Context, named string) (project, key string) {
	p := s.projectOf(ctx, named)
	return cmp.Or(p.Root, p.Name), p.Key
}

// belongs tells what is of a project, as searches do: by its folders; where something has no root, by the names that were given to
// these, or by the name that the project is named by.
func (s *sources) belongs(ctx context.Context, named string) (func(root, name string) bool, error) {
	if named == "" {
		return func(string, string) bool { return true }, nil
	}
	p := s.projectOf(ctx, named)
	if p.Root == "" {
		return func(_, name string) bool { return name == p.Name }, nil
	}
	own, err := s.Views.Extent(ctx, p.Root, p.Key)
	return func(root, name string) bool {
		if root == "" {
			return slices.Contains(own.Names, name)
		}
		return slices.Contains(own.Roots, root)
	}, err
}

// sessionsOf lists the sessions that f chooses, of a project if one is named, newest first.
func (s *sources) sessionsOf(ctx context.Context, f sessions.Filter, named string) ([]api.Session, error) {
	belongs, err := s.belongs(ctx, named)
	if err != nil {
		return nil, err
	}
	f.Match = func(one api.Session) bool { return belongs(one.ProjectRoot, one.Project) }
	return s.Views.Sessions(ctx, f)
}

// narrow reads the names by which inputs are chosen; empty ones choose all.
func (s *sources) narrow(ctx context.Context, turn, session, project string) (f outcomes.Filter, err error) {
	if turn != "" {
		if f.Turn, err = s.turnID(ctx, turn); err != nil {
			return f, err
		}
	}
	if session != "" {
		if f.Session, err = s.sessionID(ctx, session); err != nil {
			return f, err
		}
	}
	if project == "" {
		return f, nil
	}
	found, err := s.sessionsOf(ctx, sessions.Filter{Limit: scannedSessions}, project)
	f.Among = make(map[events.SessionID]bool, len(found))
	for _, one := range found {
		f.Among[one.ID] = true
	}
	return f, err
}

// asOf is the position that as_of means: the one it names, or the last that had been recorded at the time it names; 0 is now.
// Known is false if nothing had been recorded by then.
func (s *sources) asOf(ctx context.Context, m api.Moment) (p events.Position, known bool, err error) {
	if m.Position != 0 || m.Time.IsZero() {
		return m.Position, true, nil
	}
	p, err = s.Recall.PositionAt(ctx, m.Time)
	return p, p > 0, err
}

// fileOf is where a file or a folder lies that a request names by its absolute path. It need not exist any more: then the
// folder above it tells that does.
func (s *sources) fileOf(ctx context.Context, named string) recall.FileIn {
	if !filepath.IsAbs(named) {
		return recall.FileIn{}
	}
	folder, rest := filepath.Clean(named), ""
	for !isFolder(folder) && folder != filepath.Dir(folder) {
		folder, rest = filepath.Dir(folder), path.Join(filepath.Base(folder), rest)
	}
	below, ok := evidence.InTree(folder)
	if !ok {
		return recall.FileIn{}
	}
	p := s.place(ctx, folder)
	return recall.FileIn{Root: p.Root, Key: p.Key, Path: path.Join(below, rest)}
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
