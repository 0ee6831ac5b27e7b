package evidence

import (
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/toolinput"
)

// Files returns the files that the call read and those that it modified: from its fields, from patches and from what the client says
// that a command line changed, never from the line itself. Paths are cleaned and made absolute by the call's folder where that is known,
// without duplicates, in the order given, at most 200 each. A failed call touched nothing.
func (c *Call) Files() (read, modified []string) { return c.read, c.modified }

// Tried returns the files that a failed call would have modified, as Files does; none of a call that did not fail.
func (c *Call) Tried() []string { return c.tried }

// files are those that the call reads and modifies where it does not fail.
func (c *Call) files() (read, modified []string) {
	r, m := fileSet{cwd: c.folderOf()}, fileSet{cwd: c.folderOf()}
	for _, f := range c.ChangedByShell() {
		m.addAll([]string{f.Path})
	}
	switch {
	case c.kind == Command || c.kind == Web || c.kind == Task || c.kind == Search || c.out.isTrue("iserror") || c.remote():
	case c.writes() && !c.in.isTrue("dryrun"):
		m.addAll(c.written())
		if c.named("copy") {
			r.addAll(c.in.first(toolinput.Source).names())
		}
	case !c.mcp || c.named("file", "files") || c.in.holds(toolinput.File):
		if !c.isAboutFolders() {
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
	return slices.Clip(r.list), slices.Clip(m.list)
}

// remote reports whether the call is about files that lie in another place than the disk: a repository of a forge, a
// bucket.
func (c *Call) remote() bool {
	return c.mcp && c.in.has("owner", "repo", "repository", "projectid", "bucket", "branch", "repoid", "workspaceid")
}

// fromOutput is for calls whose input named no file: one that was cut, or a tool that answers with what it did.
func (c *Call) fromOutput(r, m *fileSet) {
	if c.kind != Edit && c.kind != Read {
		return
	}
	for _, v := range resultNests(c.out) {
		switch {
		case isWriteResult(v) || c.kind == Edit:
			m.addAll(v.first(toolinput.File, toolinput.Path).names())
		default:
			r.addAll(v.first(toolinput.File).names())
		}
	}
	if diff := c.out.get("gitdiff", "diff", "filediff"); diff.text {
		m.addAll(patchedFiles(diff.String()))
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
