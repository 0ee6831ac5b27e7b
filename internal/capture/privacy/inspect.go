package privacy

import (
	"cmp"
	"path"
	"strings"

	"github.com/cmemd/cmemd/internal/jsonscan"
	"github.com/cmemd/cmemd/internal/toolinput"
)

// Inspect says what the rules say of what a tool was given in a folder: the files that it names, in a member for a path, in a
// patch or in a shell command, and what the command lists. Input is JSON, or a shell command or patch as it is.
func (r *Rules) Inspect(cwd, input string) Finding {
	l := inspection{rules: r, cwd: cwd}
	l.value(input)
	return l.finding()
}

// Cut is an input of which Inspect said that its contents are not recorded, without them: names of files stay, and shell
// commands that only read.
func (r *Rules) Cut(input string, f Finding) string {
	if f.LeftOut == LeftEnvironment {
		return input // its output tells, not the command
	}
	if out, ok := cutContents(input, f); ok {
		return out
	}
	return cutCommand(input, f)
}

// maxNested is how deep commands in words of commands are looked at: ssh HOST "sh -c '...'".
const maxNested = 3

// maxNestedJSON is how deep JSON in strings of JSON is looked at.
const maxNestedJSON = 3

// value looks at an input: JSON, or a shell command or patch as it is.
func (l *inspection) value(input string) {
	l.dir = l.cwd
	if len(input) > 0 && (input[0] == '{' || input[0] == '[') && l.json(input, "", maxNestedJSON) {
		return
	}
	if !strings.Contains(input, callsTools) {
		l.shell(input)
	}
	l.patch(input)
	l.code(input)
}

// json looks at a JSON text, and reports whether it is one to its end. Name is that of the member whose string it is, and
// levels how deep strings in it are looked at.
func (l *inspection) json(data, name string, levels int) (whole bool) {
	base := l.cwd
	folders := inScopes[string]{ahead: foldersIn(data)}
	l.listed()
	whole = eachValue(data, func(v value) bool {
		if v.text == "" || toolinput.Of(v.outer).Is(toolinput.Result) {
			return true
		}
		if folder, ok := folders.at(v.Start); ok {
			l.work(base, folder)
		} else {
			l.enterFolder(base)
		}
		l.dir = l.cwd
		v.key = cmp.Or(v.key, name)
		l.member(v, levels)
		return !l.found.Ignored
	})
	l.listed()
	l.enterFolder(base)
	return whole
}

// foldersIn are the folders in which parts of a JSON text work.
func foldersIn(data string) []scope[string] {
	if !strings.Contains(data, "cwd") && !strings.Contains(data, "dir") && !strings.Contains(data, "Dir") {
		return nil
	}
	return scopes(data, func(_, name, text string) string {
		if len(text) < 3 || !toolinput.Of(name).Is(toolinput.Folder) {
			return ""
		}
		return jsonscan.Unquote(text)
	})
}

// member looks at a string.
func (l *inspection) member(v value, levels int) {
	use := toolinput.Of(v.key)
	if use.Is(toolinput.Code) {
		l.code(v.string())
	}
	if levels > 0 && len(v.text) > 3 && mayBeJSON(v.text[1:]) && !use.Is(toolinput.Text) && l.json(v.string(), v.key, levels-1) {
		return
	}
	switch {
	case use.Is(toolinput.Folder):
		if l.cwd == l.found.dir { // and not that of the session
			l.ignored(l.cwd)
		}
	case use.Is(toolinput.Glob):
		l.pattern(v.string())
	case use.Is(mayNameUses):
		text := v.string()
		l.path(text)
		l.patch(text)
	case v.listed && use.Is(toolinput.Shell|toolinput.Args):
		if v.named != l.argsOf {
			l.listed()
		}
		l.args, l.argsOf, l.argsIn = append(l.args, v.string()), v.named, l.cwd
	case use.Is(toolinput.Shell):
		text := v.string()
		l.shell(text)
		l.patch(text)
	case strings.Contains(v.text, patchBegin): // which is written so in JSON too
		l.patch(v.string())
	}
}

// pattern looks at a pattern for the names of files whose contents are looked at.
func (l *inspection) pattern(glob string) {
	if glob == "" || glob[0] == '!' || strings.ContainsAny(glob, "\n\x00") || len(glob) > maxPath {
		return
	}
	if what := l.private(glob, roleOperand); what != "" {
		l.noteFile(what, true)
	}
	sign := strings.IndexAny(glob, "*?[{")
	if sign < 0 {
		l.ignored(glob)
		return
	}
	l.ignored(glob[:strings.LastIndexByte(glob[:sign], '/')+1])
	if folder := path.Dir(glob); l.rules.Ignore != nil && literals(glob[:max(strings.IndexByte(glob, '/'), 0)]) > 0 && !strings.Contains(folder, "**") {
		l.expandWord(folder) // lines of single files that are ignored go from the output
	}
}

// patchBegin begins the patches that some agents write instead of an edit, and patchEnd ends them.
const (
	patchBegin = "*** Begin Patch"
	patchEnd   = "\n*** End Patch"
)

// shell looks at what stands where a shell command does. A patch is none: to a shell its first word is a pattern for all files of the
// folder, ignored ones too.
func (l *inspection) shell(text string) {
	if patch, behind, ends := strings.Cut(strings.TrimSpace(text), patchEnd); ends && isPatch(patch) {
		text = behind
	}
	l.command(text)
}

// isPatch reports whether all lines of a text are those of a patch. A shell would run any other.
func isPatch(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); line != "" && !strings.HasPrefix(line, "*** ") && !strings.HasPrefix(line, "@@") && strings.IndexByte("+- ", line[0]) < 0 {
			return false
		}
	}
	return strings.HasPrefix(text, patchBegin)
}

// patch looks at the files that a patch names.
func (l *inspection) patch(text string) {
	if !strings.Contains(text, patchBegin) {
		return
	}
	for line := range strings.Lines(text) {
		if file, ok := patchedFile(strings.TrimRight(line, "\r\n")); ok {
			l.path(file)
		}
	}
}

// patchedFile is the file that a line of a patch names.
func patchedFile(line string) (file string, ok bool) {
	for _, head := range [...]string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "} {
		if file, ok = strings.CutPrefix(line, head); ok {
			return file, true
		}
	}
	return "", false
}

// cutPatch is a patch without what it changes.
func cutPatch(text string, f Finding) string {
	var out strings.Builder
	out.WriteString(patchBegin + "\n")
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if _, ok := patchedFile(line); ok {
			out.WriteString(line + "\n")
		}
	}
	return out.String() + f.Mark() + "\n*** End Patch"
}
