package evidence

import (
	"path"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/toolinput"
)

// Call is a tool call that Parse read. It does not change and is safe for concurrent use. It shares the texts of the
// event that it was read from; the lists that it returns must not be changed.
type Call struct {
	events.ToolUsed
	in, out  value
	name     []string // the words of the tool's name, lowercase
	mcp      bool
	command  string   // the command line, or ""
	simple   []Simple // what Split finds in the line of a Command
	runs     []Simple // all that it runs: these, unnested
	patched  []string // the files of the patches that it carries, as they stand there
	patchDir string   // the folder that its command line went to before it applied them, as it stands there
	kind     Kind
	shape    Shape

	read, modified []string
	tried          []string // what a failed call would have modified
}

// Kind is what the call was for.
func (c *Call) Kind() Kind { return c.kind }

// Commands are the simple commands of a Command, as Split finds them; none of other calls.
func (c *Call) Commands() []Simple { return c.simple }

func (c *Call) named(words ...string) bool {
	return slices.ContainsFunc(c.name, func(n string) bool { return slices.Contains(words, n) })
}

// Kind is what a tool call was for.
type Kind string

// The kinds of tool calls.
const (
	Edit    Kind = "edit"    // changed, made or deleted files
	Read    Kind = "read"    // read a file
	Command Kind = "command" // ran a command line
	Search  Kind = "search"  // looked for files or text
	Web     Kind = "web"     // fetched or searched the web
	Task    Kind = "task"    // gave work to a subagent
	MCP     Kind = "mcp"     // called a tool of an MCP server
	Other   Kind = "other"
)

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
		!c.isAboutFolders()
}

// isAboutFolders reports whether the call is about folders, which are no files.
func (c *Call) isAboutFolders() bool {
	return c.named("ls", "dir", "directory", "directories", "folder", "list", "tree", "glob", "mkdir")
}

func (c *Call) folderOf() string {
	if dir := c.in.first(toolinput.Workdir).String(); dir != "" {
		return join(c.Cwd, dir)
	}
	return c.Cwd
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

func isWriteResult(v value) bool {
	if kind := v.get("type").raw; kind == "create" || kind == "update" || kind == "delete" {
		return true
	}
	return v.has("structuredpatch", "originalfile", "originalcontent", "oldstring", "newstring", "filediff", "gitdiff", "diff", "patch",
		"before", "after", "updatedfile")
}

const (
	// maxFiles is how many files one call is evidence for, read and modified each: more is a sweep, not work on files.
	maxFiles = 200
	// maxPath is the longest path in bytes: the limit of Linux.
	maxPath = 4 << 10
)

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
