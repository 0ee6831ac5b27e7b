package privacy

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// command looks at a shell command: at each of its words that may name a file, and at what lists the environment. It returns
// where its groups stand.
func (l *inspection) command(line string) []shellSpan {
	line = line[:min(len(line), maxCommand)]
	if strings.Contains(line, "$(pwd)") {
		line = strings.ReplaceAll(line, "$(pwd)", "$PWD  ")
	}
	dir := l.cwd
	spans := l.line(line, maxNested, -1)
	if l.cwd != dir {
		l.found.dir = l.cwd
	}
	l.enterFolder(dir)
	return spans
}

// enterFolder makes dir the folder enterFolder which what follows works.
func (l *inspection) enterFolder(dir string) {
	if dir != l.cwd {
		l.cwd, l.quietKnown = dir, false
	}
}

// line looks at a line, and at those in its words. Group is the one of the word that it is; -1: it is a whole one.
func (l *inspection) line(line string, depth, group int) []shellSpan {
	parts := splitShell(line)
	for i := range parts.commands {
		parts.commands[i].resolve()
	}
	feeds := feeding(parts.commands)
	for i := range parts.commands {
		c := &parts.commands[i]
		c.dropped = c.piped && i+1 < len(parts.commands) && parts.commands[i+1].takesSilently()
		if group >= 0 {
			c.group = group
		}
		l.run(c, depth, feeds != nil && feeds[i])
	}
	return parts.spans
}

// run looks at one command. Feeds says that what it prints may be the names of files that others read.
func (l *inspection) run(c *shellCommand, depth int, feeds bool) {
	if !c.swallowed && !c.dropped {
		l.noteListing(c.lists())
	}
	if l.taint.loadedFrom != "" && c.printsVariable() {
		l.shownOf(l.taint.loadedFrom)
	}
	onlyReads, hasLine := c.program.onlyReads(c.use), depth > 0 && c.takesLine
	visit := func(w string, as role) {
		if hasLine && strings.ContainsAny(w, " \t\n;|") {
			return // a line of its own
		}
		if feeds && as == roleUnseen {
			as = roleOperand
		}
		l.word(c, w, as, onlyReads)
	}
	c.eachOperand(visit)
	if feeds || c.name == "fd" && c.use != printsNothing {
		c.eachPattern(visit)
	}
	l.takes(c)
	l.words(c)
	if c.use == runsCode {
		for i := range c.args {
			l.script(c, c.args[i].text, onlyReads)
		}
		l.script(c, c.hereDocs, onlyReads)
	}
	l.given(c, depth)
	if c.name == "cd" || c.name == "pushd" {
		l.enter(c.args)
	}
}

// shownOf notes that a command prints some of a private file that another one named.
func (l *inspection) shownOf(what string) {
	l.named = true
	l.noteFile(what, true)
}

// words looks at all words of a command for paths that are ignored, be it as they may.
func (l *inspection) words(c *shellCommand) {
	if l.rules.Ignore == nil {
		return
	}
	for i := range c.words {
		eachPath(c.words[i].text, func(w string) {
			if w != "" && w[0] != '-' {
				l.expandWord(w)
			}
		})
	}
}

// given looks at the lines that a command is given as words or as a here-document.
func (l *inspection) given(c *shellCommand, depth int) {
	if depth == 0 || !c.takesLine {
		return
	}
	dir := l.cwd
	for i := range c.words {
		if c.isGivenCommand(i) {
			l.line(c.words[i].text, depth-1, c.group)
		}
	}
	if c.hereDocs != "" {
		l.line(c.hereDocs, depth-1, c.group)
	}
	l.enterFolder(dir)
}

// enter follows a cd.
func (l *inspection) enter(args []shellWord) {
	if l.entered++; l.entered > maxEntered {
		return
	}
	for i := range args {
		if to := args[i].text; to != "" && to[0] != '-' {
			l.enterFolder(l.below(l.cwd, to))
			return
		}
	}
}

// below is a folder as a tool names it that works in base; base itself, if no folder has so long a name.
func (l *inspection) below(base, folder string) string {
	if folder = l.absolute(folder); !filepath.IsAbs(folder) && base != "" {
		folder = filepath.Join(base, folder)
	}
	if len(folder) > maxPath {
		return base
	}
	return folder
}

// absolute is a word with what stands for a folder at its beginning replaced by that.
func (l *inspection) absolute(w string) string {
	if w == "" || w[0] != '~' && w[0] != '$' {
		return w
	}
	for _, begin := range [...]string{"~", "$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(w, begin); ok && (rest == "" || rest[0] == '/') {
			if home, err := os.UserHomeDir(); err == nil {
				return home + rest
			}
		}
	}
	for _, begin := range [...]string{"$PWD", "${PWD}"} {
		if rest, ok := strings.CutPrefix(w, begin); ok {
			return l.cwd + strings.TrimLeft(rest, " ")
		}
	}
	return w
}

// word looks at a word that may be a private file.
func (l *inspection) word(c *shellCommand, word string, as role, onlyReads bool) {
	if as == roleUnseen {
		return
	}
	eachPath(word, func(w string) {
		what := l.private(w, as)
		switch {
		case what == "" && as != roleOutput:
			if what = l.copied(w); what != "" {
				l.shownOf(what)
			}
		case what == "":
		case c.dropped && as != roleOutput:
		case c.swallowed && as != roleOutput:
			l.taint.loadedFrom = what
		default:
			l.named = true
			l.noteFile(what, as != roleOutput)
			if as == roleOutput || !onlyReads && len(c.words) > 1 {
				l.hold(c.group)
			}
		}
	})
}

// script looks at what stands in quotes in a script, which may be files that it opens and lines that it runs.
func (l *inspection) script(c *shellCommand, text string, onlyReads bool) {
	if text == "" || !strings.ContainsAny(text, "'\"`") {
		return
	}
	if strings.Contains(text, "load_dotenv(") && !readsVariable.has(text) {
		return
	}
	as := roleShown
	if lower := strings.ToLower(text); strings.Contains(lower, "open") || strings.Contains(lower, "read") {
		as = roleOperand
	}
	runsLines := running.has(text)
	eachQuoted(text, func(w string) {
		if runsLines && strings.IndexByte(w, ' ') > 0 {
			dir := l.cwd
			l.line(w, 0, c.group)
			l.enterFolder(dir)
			return
		}
		l.word(c, w, as, onlyReads)
		if l.rules.Ignore != nil {
			l.expandWord(w)
		}
	})
}

// hold notes that a group may hold what is in a private file.
func (l *inspection) hold(group int) {
	if l.holds == nil {
		l.holds = map[int]bool{}
	}
	l.holds[group] = true
}

// private says what a word is if it names a private file, as the shell would read it; empty: it names none.
func (l *inspection) private(word string, as role) string {
	word = strings.TrimPrefix(word, "file://")
	if as == roleShown && strings.Contains(word, "://") || len(word) > maxPath {
		return ""
	}
	if strings.ContainsAny(word, "*?[{") {
		return privateGlob(word, as)
	}
	written, secrets := word, true
	if folderSigns.has(l.cwd) {
		dir := strings.TrimSuffix(filepath.ToSlash(l.cwd), "/")
		inner, in := strings.CutPrefix(word, dir+"/")
		if !path.IsAbs(word) {
			word, in = path.Join(dir, word), true
		}
		secrets = word != dir && (!in || mayBeInSecrets(inner, as))
	}
	what := privateAmong(word, secrets)
	if what != "" && as == roleShown && (isAnyName(word) || !secrets && isAnyName(written)) && strings.IndexByte(written, '/') < 0 || what != "" && strings.Contains(word, "://") && isAnyName(word) {
		return ""
	}
	return what
}
