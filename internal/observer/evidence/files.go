package evidence

import (
	"path"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/toolinput"
)

const (
	// maxFiles is how many files one call is evidence for, read and modified each: more is a sweep, not work on files.
	maxFiles = 200
	// maxPath is the longest path in bytes: the limit of Linux.
	maxPath = 4 << 10
)

// Files is Parse(t).Files(), for callers that want nothing else of the call.
func Files(t events.ToolUsed) (read, modified []string) { return Parse(t).Files() }

// Files returns the files that the call read and those that it modified: from its fields and from patches, never from
// a command line. Paths are cleaned and made absolute by the call's folder where that is known, without duplicates, in
// the order given, at most 200 each. A failed call touched nothing.
func (c Call) Files() (read, modified []string) {
	if c.Failed {
		return nil, nil
	}
	r, m := fileSet{cwd: c.folderOf()}, fileSet{cwd: c.folderOf()}
	switch {
	case c.kind == Command || c.kind == Web || c.kind == Task || c.kind == Search || c.out.isTrue("iserror") || c.remote():
	case c.writes() && !c.in.isTrue("dryrun"):
		m.addAll(c.written())
		if c.named("copy") {
			r.addAll(c.in.first(toolinput.Source).names())
		}
	case !c.mcp || c.named("file", "files") || c.in.holds(toolinput.File):
		if !c.folder() {
			r.addAll(c.paths())
		}
	}
	if c.patchDir != "" {
		m.cwd = join(m.cwd, c.patchDir)
	}
	m.addAll(c.patched)
	if len(r.list)+len(m.list) == 0 && !c.mcp {
		c.fromOutput(&r, &m)
	}
	return r.list, m.list
}

// remote reports whether the call is about files that lie in another place than the disk: a repository of a forge, a
// bucket.
func (c *Call) remote() bool {
	return c.mcp && c.in.has("owner", "repo", "repository", "projectid", "bucket", "branch", "repoid", "workspaceid")
}

// written are the files that a call which writes is about. A page of an MCP server may have a path and content too:
// there a path must look like that of a file.
func (c *Call) written() []string {
	paths := c.paths()
	if c.mcp && !c.named("file", "files") && !c.in.holds(toolinput.File) {
		paths = slices.DeleteFunc(paths, func(p string) bool { return path.Ext(p) == "" })
	}
	return paths
}

// paths are all that the input names, entries of edits[] and files[] included.
func (c *Call) paths() (out []string) {
	for _, m := range c.in.members {
		if !toolinput.Of(m.key).Is(toolinput.File | toolinput.Path) {
			continue
		}
		out = append(out, m.names()...)
		for _, e := range m.list {
			out = append(out, e.first(toolinput.File, toolinput.Path).names()...)
		}
	}
	entries := c.in.get("edits", "changes", "replacements", "operations")
	for _, e := range entries.list {
		out = append(out, e.first(toolinput.File, toolinput.Path).names()...)
	}
	for _, m := range entries.members { // changes by path
		if m.object {
			out = append(out, m.key)
		}
	}
	if c.named("move", "rename") {
		out = append(out, c.in.first(toolinput.Source).names()...)
	}
	if c.named("move", "rename", "copy") {
		out = append(out, c.in.first(toolinput.Target).names()...)
	}
	return out
}

// writes reports whether the call changes the files it names: it carries content, or its name is a verb of change.
func (c *Call) writes() bool {
	if verb := c.in.get("command"); verb.text && verb.raw == "view" {
		return false
	}
	if c.in.holds(toolinput.Content) {
		return true
	}
	if c.mcp && !c.named("file", "files") && !c.in.holds(toolinput.File) {
		return false
	}
	return c.named("write", "edit", "create", "delete", "remove", "move", "rename", "copy", "replace", "patch", "append", "update",
		"insert") &&
		!c.folder()
}

// folder reports whether the call is about folders, which are no files.
func (c *Call) folder() bool {
	return c.named("ls", "dir", "directory", "directories", "folder", "list", "tree", "glob", "mkdir")
}

func (c *Call) folderOf() string {
	if dir := c.in.first(toolinput.Workdir).String(); dir != "" {
		return join(c.Cwd, dir)
	}
	return c.Cwd
}

// patches are the patch bodies that the call carries.
func (c *Call) patches() []string {
	candidates := append(c.in.get("patch").strings(), c.in.get("patchtext", "input", "diff").strings()...)
	for _, e := range c.in.get("edits").list {
		candidates = append(candidates, e.get("patch").strings()...)
	}
	candidates = append(candidates, c.shellPatch()...)
	if !c.in.object {
		candidates = append(candidates, c.Input)
		if c.in.text {
			candidates = append(candidates, c.in.String())
		}
	}
	return slices.DeleteFunc(candidates, func(p string) bool { return len(patched(p)) == 0 })
}

// resultNests are the places of a result where clients say which file it is about.
func resultNests(out value) []value {
	nests := []value{out}
	for _, k := range []string{"file", "returndisplay", "gitdiff", "filediff", "metadata", "result", "data"} {
		if v := out.get(k); v.object {
			nests = append(nests, v)
			if inner := v.get("filediff"); inner.object {
				nests = append(nests, inner)
			}
		}
	}
	return nests
}

func isWritten(v value) bool {
	if kind := v.get("type").raw; kind == "create" || kind == "update" || kind == "delete" {
		return true
	}
	return v.has("structuredpatch", "originalfile", "originalcontent", "oldstring", "newstring", "filediff", "gitdiff", "diff", "patch",
		"before", "after", "updatedfile")
}

// fromOutput is for calls whose input named no file: one that was cut, or a tool that answers with what it did.
func (c *Call) fromOutput(r, m *fileSet) {
	if c.kind != Edit && c.kind != Read {
		return
	}
	for _, v := range resultNests(c.out) {
		switch {
		case isWritten(v) || c.kind == Edit:
			m.addAll(v.first(toolinput.File, toolinput.Path).names())
		default:
			r.addAll(v.first(toolinput.File).names())
		}
	}
	if diff := c.out.get("gitdiff", "diff", "filediff"); diff.text {
		m.addAll(patched(diff.String()))
	}
}

type fileSet struct {
	cwd  string
	list []string
}

func (s *fileSet) addAll(paths []string) {
	for _, p := range paths {
		p, ok := cleanPath(s.cwd, p)
		if ok && len(s.list) < maxFiles && !slices.Contains(s.list, p) {
			s.list = append(s.list, p)
		}
	}
}

// cleanPath returns p as a clean path; ok is false for what is no file: URLs, patterns, devices, text of
// several lines.
func cleanPath(cwd, p string) (clean string, ok bool) {
	p = strings.TrimSpace(p)
	if rest, isFile := strings.CutPrefix(p, "file://"); isFile {
		p = rest
	}
	if p == "" || p == "-" || len(p) > maxPath || strings.Contains(p, "://") || strings.ContainsAny(p, "\n\r\x00*") ||
		strings.HasSuffix(p, "/") || p == "/dev/null" || p == "/dev/stdin" || p == "/dev/stdout" || strings.EqualFold(p, "nul") {
		return "", false
	}
	p = join(cwd, p)
	return p, len(p) <= maxPath && p != "." && p != "/"
}

// join makes p absolute by cwd, without looking at the disk. Paths of Windows and those of a home folder stand.
func join(cwd, p string) string {
	switch {
	case isWindows(p), strings.HasPrefix(p, "~"):
		return p
	case strings.HasPrefix(p, "/") || cwd == "":
		return path.Clean(p)
	case isWindows(cwd):
		return strings.TrimRight(cwd, `\/`) + `\` + strings.ReplaceAll(strings.TrimPrefix(p, "./"), "/", `\`)
	}
	return path.Join(cwd, p)
}

func isWindows(p string) bool {
	return strings.HasPrefix(p, `\\`) || len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

// Rel returns p relative to the folder root, with slashes, if it lies below; else p itself.
func Rel(root, p string) string {
	sep := "/"
	if isWindows(root) {
		sep = `\`
	}
	rest, ok := strings.CutPrefix(p, strings.TrimRight(root, sep)+sep)
	if root == "" || !ok || rest == "" {
		return p
	}
	return strings.ReplaceAll(rest, sep, "/")
}
