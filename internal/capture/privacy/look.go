package privacy

import (
	"bytes"
	"cmp"
	"path"
	"path/filepath"
	"strings"

	"github.com/cmemd/cmemd/internal/jsonscan"
	"github.com/cmemd/cmemd/internal/toolinput"
)

// A look is one look of the rules at one input.
type look struct {
	rules   *Rules
	cwd     string // in which what is looked at now works
	found   Finding
	shows   bool         // what came of it may hold what is left out
	named   bool         // a shell command names a private file
	holds   map[int]bool // the groups of a line that may hold what is in a private file
	quiet   bool         // no name in cwd is ignored; only if asked
	asked   bool
	looked  int // paths so far of which it was asked whether they are ignored
	entered int // folders so far
	kept    kept
	dir     string // in which the tool works that is looked at now
	args    []string
	argsOf  int    // where the name of the list stands whose words are in args
	argsIn  string // in which they work
}

// environment is what is said of a listing of it.
const environment = "the environment"

// maxLooked bounds how many paths of one input are looked up: each may cost a look at some folders.
const maxLooked = 1000

// maxEntered bounds how many folders of one input are entered.
const maxEntered = 100

// maxNested is how deep commands in words of commands are looked at: ssh HOST "sh -c '...'".
const maxNested = 3

// maxInner is how deep JSON in strings of JSON is looked at.
const maxInner = 3

// maxCommand is how much of a command is looked at; what is longer holds data.
const maxCommand = 1 << 20

// value looks at an input: JSON, or a shell command or patch as it is.
func (l *look) value(input string) {
	l.dir = l.cwd
	if len(input) > 0 && (input[0] == '{' || input[0] == '[') && l.json([]byte(input), "", maxInner) {
		return
	}
	if !strings.Contains(input, callsTools) {
		l.command(input)
	}
	l.patch(input)
	l.code(input)
}

// finding is what was found.
func (l *look) finding() Finding {
	f := l.found
	if f.Left != "" {
		f.OutputStays = !l.shows
	}
	return f
}

// json looks at a JSON text, and reports whether it is one to its end. Name is that of the member whose string it is, and
// levels how deep strings in it are looked at.
func (l *look) json(data []byte, name string, levels int) (whole bool) {
	base := l.cwd
	folders := inScopes[string]{ahead: foldersIn(data)}
	l.listed()
	whole = eachValue(data, func(v value) bool {
		if v.text == nil || toolinput.Of(v.outer).Is(toolinput.Result) {
			return true
		}
		if folder, ok := folders.at(v.Start); ok {
			l.work(base, folder)
		} else {
			l.in(base)
		}
		l.dir = l.cwd
		v.key = cmp.Or(v.key, name)
		l.member(v, levels)
		return !l.found.Ignored
	})
	l.listed()
	l.in(base)
	return whole
}

// foldersIn are the folders in which parts of a JSON text work.
func foldersIn(data []byte) []scope[string] {
	if !bytes.Contains(data, []byte("cwd")) && !bytes.Contains(data, []byte("dir")) && !bytes.Contains(data, []byte("Dir")) {
		return nil
	}
	return scopes(data, func(_, name string, text []byte) string {
		if len(text) < 3 || !toolinput.Of(name).Is(toolinput.Folder) {
			return ""
		}
		return jsonscan.Unquote(text)
	})
}

// work makes folder, below base or not, that in which what follows works.
func (l *look) work(base, folder string) {
	if folder = l.absolute(strings.TrimPrefix(folder, "file://")); !filepath.IsAbs(folder) && base != "" {
		folder = filepath.Join(base, folder)
	}
	if len(folder) > maxPath || strings.ContainsAny(folder, "\n\x00") {
		return
	}
	l.in(folder)
	if folder != base {
		l.found.dir = folder
	}
}

// member looks at a string.
func (l *look) member(v value, levels int) {
	use := toolinput.Of(v.key)
	if use.Is(toolinput.Code) {
		l.code(v.string())
	}
	if levels > 0 && len(v.text) > 3 && mayBeJSON(v.text[1:]) && !use.Is(toolinput.Text) && l.json([]byte(v.string()), v.key, levels-1) {
		return
	}
	switch {
	case use.Is(toolinput.Folder):
		if l.cwd == l.found.dir { // and not that of the session
			l.ignored(l.cwd)
		}
	case use.Is(toolinput.Glob):
		l.pattern(v.string())
	case use.Is(mayName):
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
		l.command(text)
		l.patch(text)
	case bytes.Contains(v.text, []byte(patchBegin)): // which is written so in JSON too
		l.patch(v.string())
	}
}

// pattern looks at a pattern for the names of files whose contents are looked at.
func (l *look) pattern(glob string) {
	if glob == "" || glob[0] == '!' || strings.ContainsAny(glob, "\n\x00") || len(glob) > maxPath {
		return
	}
	if what := l.private(glob, operand); what != "" {
		l.file(what, true)
	}
	sign := strings.IndexAny(glob, "*?[{")
	if sign < 0 {
		l.ignored(glob)
		return
	}
	l.ignored(glob[:strings.LastIndexByte(glob[:sign], '/')+1])
	if folder := path.Dir(glob); l.rules.Ignore != nil && literals(glob[:max(strings.IndexByte(glob, '/'), 0)]) > 0 && !strings.Contains(folder, "**") {
		l.expanded(folder) // lines of single files that are ignored go from the output
	}
}

// listed looks at a command that was given as a list of words.
func (l *look) listed() {
	if len(l.args) == 0 {
		return
	}
	c := shellCommand{}
	for _, w := range l.args {
		c.words = append(c.words, shellWord{text: w})
		l.patch(w)
	}
	l.args = l.args[:0]
	dir := l.cwd
	l.in(l.argsIn)
	l.run(&c, maxNested, false)
	l.in(dir)
}

// path looks at a file that an input names.
func (l *look) path(path string) {
	path = strings.TrimPrefix(path, "file://")
	if path == "" || strings.ContainsAny(path, "\n\x00") || len(path) > maxPath {
		return
	}
	if what := l.private(path, operand); what != "" {
		l.file(what, true)
	}
	if isProcEnviron(path) {
		l.listing()
	}
	l.ignored(path)
}

// ignored looks whether a path is ignored.
func (l *look) ignored(path string) {
	if l.rules.Ignore == nil || l.found.Ignored || path == "" {
		return
	}
	bare := strings.IndexByte(path, '/') < 0 // any word may be that
	if bare && l.isQuiet() {
		return
	}
	if !filepath.IsAbs(path) {
		if l.cwd == "" || strings.Contains(path, "://") {
			return
		}
		path = filepath.Join(l.cwd, path)
	}
	if l.looked++; l.looked > maxLooked {
		return
	}
	if bare && l.rules.Ignore.Listed(path) || !bare && l.rules.Ignore.Ignored(path) {
		l.found.Ignored = true
	}
}

// isQuiet reports whether no name in the folder is ignored.
func (l *look) isQuiet() bool {
	if !l.asked {
		l.asked, l.quiet = true, !filepath.IsAbs(l.cwd) || l.rules.Ignore.Quiet(l.cwd)
	}
	return l.quiet
}

// file notes that a private file is named, and whether what came of it may hold what is in there.
func (l *look) file(what string, shows bool) {
	if l.found.Left != LeftFile {
		l.found.Left, l.found.What, l.found.cwd = LeftFile, what, l.dir
	}
	l.shows = l.shows || shows
}

// listing notes that the environment is listed.
func (l *look) listing() {
	if l.found.Left == "" {
		l.found.Left, l.found.What = LeftEnvironment, environment
	}
	l.shows = true
}

// patchBegin begins the patches that some agents write instead of an edit.
const patchBegin = "*** Begin Patch"

// patch looks at the files that a patch names.
func (l *look) patch(text string) {
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
