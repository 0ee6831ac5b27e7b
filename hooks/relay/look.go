package relay

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// A look is one look of the rules at one input.
type look struct {
	rules  *Rules
	cwd    string
	found  Finding
	quiet  bool // no name in cwd is ignored; only if asked
	asked  bool
	looked int // paths so far of which it was asked whether they are ignored
}

// environment is what is said of a listing of it.
const environment = "the environment"

// maxLooked bounds how many paths of one input are looked up: each may cost a look at some folders.
const maxLooked = 1000

// value looks at an input: JSON, or a shell command or patch as it is.
func (l *look) value(input string) {
	if len(input) > 0 && (input[0] == '{' || input[0] == '[') && l.json([]byte(input)) {
		return
	}
	l.command(input)
	l.patch(input)
}

// json looks at a JSON text, and reports whether it is one to its end.
func (l *look) json(data []byte) (whole bool) {
	return eachValue(data, func(v value) bool {
		if v.text == nil || isResult(plainName(v.outer)) {
			return true
		}
		switch name := plainName(v.key); {
		case isPathName(name):
			l.path(v.string())
		case isCommandName(name):
			text := v.string()
			l.command(text)
			l.patch(text)
		case bytes.Contains(v.text, []byte(patchBegin)): // which is written so in JSON too
			l.patch(v.string())
		}
		return !l.found.Ignored
	})
}

// path looks at a file that an input names.
func (l *look) path(path string) {
	path = strings.TrimPrefix(path, "file://")
	if path == "" || strings.ContainsAny(path, "\n\x00") || len(path) > maxPath {
		return
	}
	l.sensitive(path)
	if l.rules.Ignore == nil {
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
	if l.rules.Ignore.Listed(path) || !bare && l.rules.Ignore.Ignored(path) {
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

func (l *look) sensitive(path string) {
	if l.found.Left == "" && isProcEnviron(path) {
		l.found.Left, l.found.What = LeftEnvironment, environment
	}
	if what := privateFile(path); what != "" && l.found.Left != LeftFile {
		l.found.Left, l.found.What = LeftFile, what
	}
}

// command looks at a shell command: at each of its words that may name a file, and at what lists the environment.
func (l *look) command(line string) {
	for _, c := range simpleCommands(line) {
		if l.found.Left == "" && listsEnvironment(c.words) {
			l.found.Left, l.found.What = LeftEnvironment, environment
		}
		for _, w := range c.words {
			eachPath(w.text, l.word)
		}
	}
}

// word looks at a word that may name a file.
func (l *look) word(w string) {
	if w == "" || w[0] == '-' || strings.ContainsAny(w, "*$") {
		l.sensitive(w)
		return
	}
	if rest, ok := strings.CutPrefix(w, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			w = filepath.Join(home, rest)
		}
	}
	l.path(w)
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
