package server

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/memory/curation"
	"github.com/cmemd/cmemd/internal/peer"
)

// caller is who asks, as the way in which a request came says it, and never the request itself.
type caller struct {
	scope  api.Scope        // what may be asked for, but for what a person alone decides; 0: nothing
	peer   func() peer.Peer // the process that asks; nil: nothing is known of it
	kept   *kept            // the projects that may be asked about; nil: all
	viewer string           // the browser that asks; empty: none does
}

// callerKey is what a request's context has its caller by.
type callerKey struct{}

// withCaller is ctx of a request of c.
func withCaller(ctx context.Context, c caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// callerOf is who asks with ctx.
func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// process is what is known of the process that asks.
func (c caller) process() peer.Peer {
	if c.peer == nil {
		return peer.Peer{}
	}
	return c.peer()
}

// isPerson reports whether a person asks, in a terminal of theirs or on the page: a browser that may edit was let in by one.
func (c caller) isPerson() bool {
	return c.viewer != "" && c.scope == api.ScopeEdit || c.process().Person
}

// writerOf is who says what is said with ctx: a person, or one who said yes in a form that their agent showed; else an agent.
func writerOf(ctx context.Context) events.Writer {
	if api.HasAgreed(ctx) || callerOf(ctx).isPerson() {
		return events.WriterPerson
	}
	return events.WriterAgent
}

// mayAsk reports whether who asks with ctx may ask for e. The process that asks is looked at only where that decides.
func mayAsk(ctx context.Context, e api.Endpoint) bool {
	if e.Scope == api.ScopePerson {
		return callerOf(ctx).scope >= api.ScopeEdit && writerOf(ctx) == events.WriterPerson
	}
	return callerOf(ctx).scope >= e.Scope
}

// whyOutOfScope says why e is refused to a caller whose scope does not grant it.
func whyOutOfScope(e api.Endpoint) string {
	switch {
	case e == api.Endpoint(api.RotateRoute):
		return "the token is changed over the socket only"
	case e.Scope == api.ScopePerson:
		return "this is for the person to decide: " + peer.Advice(peer.Known)
	case e.Scope == api.ScopeSocket:
		return "this is done over the socket only"
	}
	return "this is not for the page, or not for one that only shows: `cmemd ui` opens one that edits, and a command does the rest"
}

// peerKey is what the context of a connection has its other end by.
type peerKey struct{}

// withPeer is ctx of a connection, with what look finds out about its other end when somebody asks for it first.
func withPeer(look func(net.Conn) peer.Peer) func(ctx context.Context, conn net.Conn) context.Context {
	return func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, peerKey{}, sync.OnceValue(func() peer.Peer { return look(conn) }))
	}
}

// peerOf is what finds out who is at the other end of r's connection; nil: nothing does.
func peerOf(r *http.Request) func() peer.Peer {
	look, _ := r.Context().Value(peerKey{}).(func() peer.Peer)
	return look
}

// overSocket serves requests of the unix socket.
func overSocket(projects []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := caller{scope: api.ScopeSocket, peer: peerOf(r)}
		ctx := api.ReadFace(r.Context(), r.Header, func() bool { return isOwnMCP(c.process()) })
		next.ServeHTTP(w, r.WithContext(withCaller(ctx, c.keptAs(ctx, projects))))
	})
}

// isOwnMCP reports whether a process is this program as it serves an agent's client, which alone can put a form before the person.
func isOwnMCP(p peer.Peer) bool { return p.Own && slices.Contains(p.Arguments, "mcp") }

// keptAs is c kept to what the face says that asks with ctx, and to projects besides.
func (c caller) keptAs(ctx context.Context, projects []string) caller {
	if folder, ok := api.Kept(ctx); ok && !slices.Contains(projects, api.EveryProject) {
		c.kept = &kept{own: folder, also: projects}
	}
	return c
}

// kept is the projects to which a face keeps itself.
type kept struct {
	own  string   // by a folder or the shown name; empty: not known
	also []string // likewise
}

// all are the projects, its own first.
func (k *kept) all() []string {
	if k.own == "" {
		return k.also
	}
	return append([]string{k.own}, k.also...)
}

// like is the first of the projects that one is, as queries mean it; ok is false where it is none of them.
func (k *kept) like(p capture.Project, projectOf func(named string) capture.Project) (named string, ok bool) {
	for _, named := range k.all() {
		if isSame(projectOf(named), p) {
			return named, true
		}
	}
	return "", false
}

// unplaced is a query that may name no project: rows in its place, say, of which whoever answers knows whether they may be shown.
type unplaced interface{ AnyProject() bool }

// restrictToProject holds query, which points to a struct, to the caller's projects: one that names none is about its own. Projects are
// compared as queries mean them, which projectOf says, so that any folder of it will do. One that names all is about all, where nothing
// keeps the caller.
func (c caller) restrictToProject(query any, projectOf func(named string) capture.Project) error {
	fields := reflect.ValueOf(query).Elem()
	named, root := fields.FieldByName("Project"), fields.FieldByName("ProjectRoot")
	if all := named.IsValid() && named.String() == api.EveryProject; all && c.kept != nil {
		return ofAnother("not all projects may be read")
	} else if all {
		named.SetString("")
	}
	if c.kept == nil {
		return nil
	}
	if q, ok := query.(unplaced); ok && q.AnyProject() {
		return nil
	}
	if !named.IsValid() {
		return ofAnother("this is of no project")
	}
	in := c.kept.own
	if in == "" && len(c.kept.also) == 1 {
		in = c.kept.also[0]
	}
	for i, field := range []reflect.Value{named, fields.FieldByName("Cwd"), root} {
		if !field.IsValid() || field.String() == "" {
			continue
		}
		like, ok := c.kept.like(projectOf(field.String()), projectOf)
		if !ok || i > 0 && named.String() != "" && !isSame(projectOf(like), projectOf(named.String())) {
			return ofAnother("the project is another one")
		}
		in = like
	}
	own := projectOf(in)
	switch {
	case in == "":
		return ofAnother("it is not known in which project you work, and several or none may be read: name one")
	case root.IsValid(): // what is saved has the name and the folder apart
		named.SetString(own.Name)
		root.SetString(cmp.Or(own.Root, root.String()))
	case !filepath.IsAbs(named.String()): // its mere name may be that of others too
		named.SetString(in)
	}
	return nil
}

// restrict is restrictToProject of who asks with ctx.
func (s *sources) restrict(ctx context.Context, query any) error {
	return callerOf(ctx).restrictToProject(query, func(named string) capture.Project { return s.projectOf(ctx, named) })
}

// ofAnother refuses what is of a project to which a face does not reach.
func ofAnother(detail string) *api.Problem {
	return notThere(detail + "; an agent reaches the project that it works in, and by its tools those that mcp_projects names: run it there, or in your own terminal")
}

func notThere(detail string) *api.Problem {
	return &api.Problem{Type: api.ProblemForbidden, Title: "Of another project", Status: http.StatusForbidden, Detail: detail}
}

// mayReach returns why whoever asks with ctx may neither see nor change what is of a project; nil: they may.
func (s *sources) mayReach(ctx context.Context, root, name string) error {
	k := callerOf(ctx).kept
	if k == nil {
		return nil
	}
	within, err := s.within(ctx, k.all(), root, name)
	if err != nil || within {
		return err
	}
	return ofAnother("it is of another project, " + shownName(root, name))
}

// shownName is what a project is called in answers.
func shownName(root, name string) string { return strings.ToValidUTF8(cmp.Or(name, root), "?") }

// within reports whether what has that root and name is of one of the projects.
func (s *sources) within(ctx context.Context, projects []string, root, name string) (bool, error) {
	for _, named := range projects {
		belongs, err := s.belongs(ctx, named)
		if err != nil || belongs(root, name) {
			return err == nil, err
		}
	}
	return false, nil
}

// by is who decides of memory with ctx. An agent corrects and takes back what is of the project that it works in.
func (s *sources) by(ctx context.Context) curation.By {
	may := func(ctx context.Context, row api.Row) error { return s.mayReachRow(inFolder(ctx), row) }
	return curation.By{Writer: writerOf(ctx), May: may}
}

// inFolder is ctx of who changes memory: what an agent's command changes is of the project in whose folder it is run, unless a face keeps
// it already. Where that folder is not known it is of none.
func inFolder(ctx context.Context) context.Context {
	if c := callerOf(ctx); c.kept == nil && writerOf(ctx) == events.WriterAgent {
		c.kept = &kept{own: c.process().Folder}
		return withCaller(ctx, c)
	}
	return ctx
}
