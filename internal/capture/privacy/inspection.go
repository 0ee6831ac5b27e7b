package privacy

import (
	"path/filepath"
	"strings"
)

// A inspection is one look of the rules at one input.
type inspection struct {
	rules      *Rules
	cwd        string // in which what is looked at now works
	found      Finding
	shows      bool         // what came of it may hold what is left out
	named      bool         // a shell command names a private file
	holds      map[int]bool // the groups of a line that may hold what is in a private file
	quiet      bool         // no name in cwd is ignored; only if quietKnown
	quietKnown bool
	lookedUp   int // paths so far of which it was asked whether they are ignored
	entered    int // folders so far
	taint      taint
	dir        string // in which the tool works that is looked at now
	args       []string
	argsOf     int    // where the name of the list stands whose words are in args
	argsIn     string // in which they work
}

// What is said of a listing: of the environment, and of what a program keeps or shows without a file's name.
const (
	environment    = "the environment"
	printedSecrets = "secrets that a program printed"
)

// maxLookedUp bounds how many paths of one input are looked up: each may cost a look at some folders.
const maxLookedUp = 1000

// maxEntered bounds how many folders of one input are entered.
const maxEntered = 100

// maxCommand is how much of a command is looked at; what is longer holds data.
const maxCommand = 1 << 20

// finding is what was found.
func (l *inspection) finding() Finding {
	f := l.found
	if f.LeftOut != "" {
		f.OutputStays = !l.shows
	}
	return f
}

// work makes folder, below base or not, that in which what follows works.
func (l *inspection) work(base, folder string) {
	folder = l.below(base, strings.TrimPrefix(folder, "file://"))
	if strings.ContainsAny(folder, "\n\x00") {
		return
	}
	l.enterFolder(folder)
	if folder != base {
		l.found.dir = folder
	}
}

// listed looks at a command that was given as a list of words.
func (l *inspection) listed() {
	if len(l.args) == 0 {
		return
	}
	var words []shellWord
	for _, w := range l.args {
		words = append(words, shellWord{text: w})
		l.patch(w)
	}
	c := newCommand(words)
	l.args = l.args[:0]
	dir := l.cwd
	l.enterFolder(l.argsIn)
	l.run(&c, maxNested, false)
	l.enterFolder(dir)
}

// path looks at a file that an input names.
func (l *inspection) path(path string) {
	path = strings.TrimPrefix(path, "file://")
	if path == "" || strings.ContainsAny(path, "\n\x00") || len(path) > maxPath {
		return
	}
	if what := l.private(path, roleOperand); what != "" {
		l.noteFile(what, true)
	}
	if isProcEnviron(path) {
		l.noteListing(environment)
	}
	l.ignored(path)
}

// ignored looks whether a path is ignored.
func (l *inspection) ignored(path string) {
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
	if l.lookedUp++; l.lookedUp > maxLookedUp {
		return
	}
	if bare && l.rules.Ignore.Listed(path) || !bare && l.rules.Ignore.Ignored(path) {
		l.found.Ignored = true
	}
}

// isQuiet reports whether no name in the folder is ignored.
func (l *inspection) isQuiet() bool {
	if !l.quietKnown {
		l.quietKnown, l.quiet = true, !filepath.IsAbs(l.cwd) || l.rules.Ignore.Quiet(l.cwd)
	}
	return l.quiet
}

// noteFile notes that a private file is named, and whether what came of it may hold what is in there.
func (l *inspection) noteFile(what string, shows bool) {
	if l.found.LeftOut != LeftFile {
		l.found.LeftOut, l.found.What, l.found.cwd = LeftFile, what, l.dir
	}
	l.shows = l.shows || shows
}

// noteListing notes that something is listed which is left out; empty: nothing is.
func (l *inspection) noteListing(what string) {
	if what == "" {
		return
	}
	if l.found.LeftOut == "" {
		l.found.LeftOut, l.found.What = LeftEnvironment, what
	}
	l.shows = true
}
