// Package toolinput knows which keys of a tool call name a file, a folder, a command or a text. Privacy, evidence and views
// read the same list, so that an editor's tool which one of them knows is known to all: what is seen is hidden, too.
//
// What bites: agents name the same thing file_path, filePath and file-path. All lookups are by the plain form of a key: in
// lower case, without the signs between its words.
package toolinput

import (
	"slices"
	"strings"
)

// A Use is a set of the things that the value of a key may be.
type Use uint32

// What a value may be. Evidence and views take a value for a file only where it is a File, or a Path in a tool that is about
// files; privacy looks at all that could name one.
const (
	File      Use = 1 << iota // files, in any tool
	Path                      // files, or folders, in tools that are about files
	Source                    // the old name of what is moved or copied
	Target                    // its new name
	MaybeFile                 // a name of something, which may be a file: privacy looks at it, and does not hide it as a text
	Workdir                   // the folder in which the call works
	Folder                    // that, or the folder in which what stands beside it lies; every Workdir is one
	Glob                      // patterns for the names of files
	Query                     // what is searched for
	Command                   // one shell command, as a text or as its words
	Shell                     // text that a shell runs: a command, several, or keys typed into it; every Command is one
	Args                      // the words of a command, if it is a list
	Wrapped                   // the whole input, where it stands alone
	Code                      // a program in a language other than the shell's
	Content                   // what is written into a file, or replaced in it
	Text                      // a text about nothing but itself: JSON in it names no files that a tool opens
	Result                    // what came of the call
)

// Is reports whether a value may be any of these.
func (u Use) Is(of Use) bool { return u&of != 0 }

// Of returns what the value of a key may be; 0: nothing that is known.
func Of(key string) Use {
	name := Plain(key)
	return useByName(name) | useBySuffix(name)
}

// useByName is what the list says of a plain name.
func useByName(name string) Use {
	switch name {
	case "filepath", "filepaths", "notebookpath", "absolutepath", "absolutepaths", "targetfile", "targetfiles", "targetnotebook", "relativepath", "pathinproject":
		return File
	case "path", "paths", "file", "files", "filename", "filenames":
		return Path
	case "source":
		return Source | MaybeFile | Code
	case "sourcepath", "oldpath", "from":
		return Source
	case "destination":
		return Target | MaybeFile
	case "destinationpath", "newpath", "to":
		return Target
	case "target", "uri", "url", "urls", "notebook", "resource", "resources", "arg", "changedfiles":
		return MaybeFile
	case "workdir", "cwd", "workingdir", "workingdirectory", "currentdir", "currentdirectory":
		return Workdir | Folder
	case "directory", "dir", "dirpath":
		return Folder
	case "include", "includes", "includepattern", "globs", "filepattern", "fileglob":
		return Glob
	case "glob", "globpattern":
		return Glob | Query
	case "pattern", "query", "queries", "regex", "searchterm", "searchpattern":
		return Query
	case "command", "cmd", "commandline", "shellcommand":
		return Command | Shell
	case "script":
		return Command | Shell | Code
	case "commands", "chars":
		return Shell
	case "args", "arguments":
		return Args | Wrapped
	case "argv":
		return Args
	case "parameters", "params":
		return Wrapped
	case "code", "input", "javascript", "js", "python", "expression", "snippet":
		return Code
	case "content", "contents", "newcontent", "codecontent", "newstring", "newstr", "newtext", "newcode", "newsource", "oldstring", "oldstr", "oldtext",
		"filetext", "inserttext", "edits", "changes", "patch", "diff", "codeedit", "replacement", "replacements", "replacementchunks":
		return Content
	case "toolresponse", "tooloutput", "toolresult", "output", "result", "resultjson", "response", "error", "stdout", "stderr":
		return Result | Text
	}
	return 0
}

// useBySuffix is what the last word of a plain name says.
func useBySuffix(name string) (u Use) {
	switch name {
	case "transcriptpath", "originalfile": // the agent's own; a file's text
		return 0
	}
	if hasAnySuffix(name, "path", "paths", "file", "filename", "uri", "uris") {
		u |= MaybeFile
	}
	if hasAnySuffix(name, "content", "contents", "text", "string", "str", "prompt", "message", "description", "summary", "preview", "title", "diff", "code", "source") {
		u |= Text
	}
	return u
}

func hasAnySuffix(name string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(name, w) })
}

// Plain is a key without the signs between its words, in lower case.
func Plain(key string) string {
	plain := true
	for i := range len(key) {
		c := key[i]
		plain = plain && c != '_' && c != '-' && (c < 'A' || c > 'Z')
	}
	if plain {
		return key
	}
	out := make([]byte, 0, len(key))
	for i := range len(key) {
		switch c := key[i]; {
		case c == '_' || c == '-':
		case 'A' <= c && c <= 'Z':
			out = append(out, c+'a'-'A')
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// IsAssignment reports whether a word of a shell command sets a variable: A=b, A+=b.
func IsAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	name = strings.TrimSuffix(name, "+")
	return ok && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// IsIdentity reports whether a member of a report says who reports, when, where or of which tool: it stays where contents go.
func IsIdentity(key string) bool {
	switch Plain(key) {
	case "hookeventname", "event", "agentactionname", "type", "workspaceroots", "workspaceroot", "directory", "worktree", "transcriptpath", "tool",
		"toolname", "mcpservername", "mcptoolname", "permissionmode", "agenttype", "subagent", "model", "source", "timestamp", "at", "time",
		"project", "session", "status", "hook", "id":
		return true
	}
	for _, end := range [...]string{"_id", "-id", "ID", "Id", "cwd"} {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return false
}
