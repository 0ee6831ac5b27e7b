package server

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/memory/curation"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/projects"
)

// projectRoutes says which folders are one project, and takes a person's word for it.
type projectRoutes struct {
	*sources
	capture   *capture.Pipeline
	registrar *curation.Registrar
	before    projects.Known // before anything was captured in this life
}

func newProjectRoutes(from *sources, p *capture.Pipeline, now func() time.Time) *projectRoutes {
	s := &projectRoutes{sources: from, capture: p, before: p.Known()}
	s.registrar = curation.NewRegistrar(curation.RegistrarConfig{
		Log: from.Log, Known: p.Known, Place: s.folder, Count: s.rootless, Learn: p.Learn, Now: now,
	})
	return s
}

func (s *projectRoutes) routes(to *dispatcher) []endpoint {
	return []endpoint{
		bind(to, api.ProjectsRoute, s.getProjects),
		bind(to, api.JoinRoute, func(ctx context.Context, q api.JoinRequest) (api.ProjectDecided, error) {
			q.Project = s.rootShown(q.Project)
			return s.decided(s.registrar.Join(ctx, q))
		}),
		bind(to, api.PartRoute, func(ctx context.Context, q api.PartRequest) (api.ProjectDecided, error) {
			return s.decided(s.registrar.Part(ctx, q))
		}),
		bind(to, api.GiveRoute, func(ctx context.Context, q api.GiveRequest) (api.ProjectDecided, error) {
			return s.decided(s.registrar.Give(ctx, q))
		}),
	}
}

// folder is where dir lies, as it is now.
func (s *projectRoutes) folder(ctx context.Context, dir string) curation.Folder {
	p := s.place(ctx, dir)
	return curation.Folder{Root: projects.Root{Path: p.Root, Key: p.Key, Name: p.Name, Claim: p.Claim}, Exists: isFolder(dir)}
}

// rootless counts the rows that have the name of a project, and no folder.
func (s *sources) rootless(ctx context.Context, name string) (int, error) {
	found, err := s.Index.Search(ctx, index.Query{Rootless: []string{name}, Limit: 1})
	return found.Total, err
}

// decided adds to a decision the project that it led to.
func (s *projectRoutes) decided(out api.ProjectDecided, err error) (api.ProjectDecided, error) {
	known := s.capture.Known()
	if r, ok := known[out.Root]; ok && err == nil {
		p := s.projectInfo(known, append([]projects.Root{r}, known.Shared(r)...))
		out.Project = &p
	}
	return out, err
}

// getProjects lists what is known of projects.
func (s *projectRoutes) getProjects(ctx context.Context, _ api.NoQuery) (api.Projects, error) {
	out := api.Projects{Projects: []api.ProjectInfo{}, Names: []api.ProjectName{}}
	if err := s.caughtUp(ctx); err != nil {
		return out, err
	}
	roots, given, at, err := s.Views.Projects(ctx)
	if err != nil {
		return out, err
	}
	known, byKey := projects.Known{}, map[string][]projects.Root{}
	for _, r := range roots {
		known[r.Path], byKey[r.Key] = r, append(byKey[r.Key], r)
	}
	out.Position = at
	for _, of := range byKey {
		out.Projects = append(out.Projects, s.projectInfo(known, of))
	}
	order.By(out.Projects, func(a, b api.ProjectInfo) int {
		return cmp.Or(b.Folders[0].At.Compare(a.Folders[0].At), cmp.Compare(a.Key, b.Key))
	})
	return out, s.addNames(ctx, known, given, &out)
}

// addNames lists the names that memory without a folder has, and adds those that were given to the projects that have them.
func (s *projectRoutes) addNames(ctx context.Context, known projects.Known, given []projects.Given, out *api.Projects) error {
	owner := map[string]string{}
	for _, g := range given {
		owner[g.Name] = g.Root
		of := slices.IndexFunc(out.Projects, func(p api.ProjectInfo) bool { return p.Key == known[g.Root].Key })
		if of >= 0 {
			out.Projects[of].Names = append(out.Projects[of].Names, g.Name)
		}
	}
	names, err := s.Index.Rootless(ctx)
	for _, n := range names {
		one := api.ProjectName{Name: n.Value, Rows: n.Count, Folder: owner[n.Value]}
		for _, r := range known.Named(n.Value) {
			if r.Name == n.Value {
				one.Folders = append(one.Folders, s.shownRoot(r.Path))
			}
		}
		out.Names = append(out.Names, one)
	}
	return err
}

// projectInfo is a project of these folders, which are all that it has.
func (s *sources) projectInfo(known projects.Known, roots []projects.Root) api.ProjectInfo {
	order.By(roots, func(a, b projects.Root) int { return cmp.Or(cmp.Compare(b.Last, a.Last), cmp.Compare(a.Path, b.Path)) })
	p := api.ProjectInfo{Name: cmp.Or(roots[0].Name, filepath.Base(roots[0].Path)), Key: roots[0].Key}
	for _, r := range roots {
		_, err := os.Lstat(r.Path)
		f := api.ProjectFolder{
			Root: r.Path, Name: r.Name, At: r.At, Decided: r.Decided, Gone: errors.Is(err, fs.ErrNotExist),
			LooksLike: s.thereFirst(known.Lookalike(r)), JoinedBefore: joinedBefore(r, len(roots)),
		}
		if shown := s.shownRoot(r.Path); shown != r.Path { // whether it is there is not seen from here
			f.Shown, f.Gone = shown, false
		}
		p.Folders = append(p.Folders, f)
	}
	return p
}

// shownRoot is a folder for people: another machine's with its machine's name before it.
func (s *sources) shownRoot(root string) string {
	if log, path, ok := engine.MachineRoot(root); ok {
		return cmp.Or(s.Views.Machine(log), log.String()[:8]) + ":" + path
	}
	return root
}

// rootShown undoes shownRoot; what it says of no folder it returns as it is.
func (s *projectRoutes) rootShown(text string) string {
	for path := range s.capture.Known() {
		if s.shownRoot(path) == text {
			return path
		}
	}
	return text
}

// joinedBefore reports whether a folder, one of so many of its project, shares that because an earlier release joined what claimed the
// same, and nobody was notified since.
func joinedBefore(r projects.Root, folders int) bool {
	return r.LegacyClaims && !r.Decided && folders > 1
}

// projectCounts counts how folders stand.
func (s *sources) projectCounts(ctx context.Context, known projects.Known) (n api.ProjectCounts, err error) {
	folders := map[string]int{}
	for _, r := range known {
		folders[r.Key]++
	}
	n.Projects, n.Folders = len(folders), len(known)
	for _, r := range known {
		if len(known.Lookalike(r)) > 0 {
			n.Apart++
		}
		if joinedBefore(r, folders[r.Key]) {
			n.JoinedBefore++
		}
	}
	names, err := s.Index.Rootless(ctx)
	if err != nil && !errors.Is(err, index.ErrRebuilding) { // what is not known is not counted
		return n, err
	}
	_, given, _, err := s.Views.Projects(ctx)
	for _, name := range names {
		if !slices.ContainsFunc(given, func(g projects.Given) bool { return g.Name == name.Value }) {
			n.Names++
		}
	}
	return n, err
}

// placeNotice says once how the folder of a root stands, in which a session starts: what it is kept apart from, what it shares memory
// with since earlier, and which memory it may be given. It is empty where there is nothing to say.
func (s *sources) placeNotice(ctx context.Context, p *capture.Pipeline, root string) string {
	r, fresh := p.Notify(root)
	if !fresh {
		return ""
	}
	known := p.Known()
	var says []string
	if like := s.thereFirst(known.Lookalike(r)); len(like) > 0 {
		says = append(says, "this folder looks like the project of "+like[0]+", and has its own memory: `cmemd project join` makes them one.")
	}
	if shared := s.thereFirst(known.Shared(r)); joinedBefore(r, 1+len(shared)) {
		says = append(says, "this folder shares its memory with "+strings.Join(shared[:min(len(shared), 3)], ", ")+": `cmemd project part` parts them.")
	}
	if n, err := s.unowned(ctx, r.Name); err == nil && n > 0 {
		give := "`cmemd project list` names it, and `cmemd project give` makes it this one's."
		if isPlainWord(r.Name) { // else what a repository calls itself would be part of a command
			give = "`cmemd project give " + r.Name + " .` makes it this one's."
		}
		says = append(says, "there is memory under this folder's name that has no folder: "+give)
	}
	return strings.Join(says, " ")
}

// thereFirst are folders as they are shown, those that are there before those that are not.
func (s *sources) thereFirst(roots []projects.Root) []string {
	paths := projects.Paths(roots)
	for i := range paths {
		paths[i] = s.shownRoot(paths[i])
	}
	slices.SortStableFunc(paths, func(a, b string) int {
		switch there := isFolder(a); {
		case there == isFolder(b):
			return 0
		case there:
			return -1
		}
		return 1
	})
	return paths
}

// isPlainWord reports whether a name is one word to any shell, and no option.
func isPlainWord(name string) bool {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	}
	return name != "" && name[0] != '-' && !strings.ContainsFunc(name, other)
}

// unowned counts the rows that have a name, no folder, and were given to none.
func (s *sources) unowned(ctx context.Context, name string) (int, error) {
	n, err := s.rootless(ctx, name)
	if err != nil || n == 0 {
		return 0, err
	}
	_, given, _, err := s.Views.Projects(ctx)
	if slices.ContainsFunc(given, func(g projects.Given) bool { return g.Name == name }) {
		n = 0
	}
	return n, err
}
