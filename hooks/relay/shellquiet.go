package relay

import (
	"path"
	"slices"
	"strings"
)

// unlessQuiet is the use of a program that prints nothing of its files if its words say so: grep -l, sed -i, openssl -noout.
func unlessQuiet(kind use, name string, args []shellWord) use {
	quiet := false
	switch name {
	case "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack":
		quiet = anyWord(args, isCounting)
	case "diff", "cmp":
		quiet = anyWord(args, func(w string) bool { return w == "-q" || w == "--brief" || w == "-s" && name == "cmp" })
	case "sed", "gsed":
		if anyWord(args, func(w string) bool { return strings.HasPrefix(w, "-i") || strings.HasPrefix(w, "--in-place") }) {
			return writer
		}
	case "openssl":
		quiet = len(args) > 0 && (args[0].text == "verify" || anyWord(args, is("-noout"))) && !anyWord(args, is("-text"))
	case "docker", "podman", "kubectl", "oc":
		quiet = len(args) > 0 && args[0].text == "cp" && !anyWord(args, is("-"))
	case "helm":
		quiet = len(args) > 0 && (args[0].text == "upgrade" || args[0].text == "install" || args[0].text == "lint") &&
			!anyWord(args, func(w string) bool { return strings.HasPrefix(w, "--dry-run") || w == "--debug" })
	case "tar":
		quiet = len(args) > 0 && isPacking(args[0].text) && !anyWord(args, is("-"))
	case "zip":
		quiet = !anyWord(args, is("-"))
	}
	if quiet {
		return silentUnless(args, "/dev/std", "/dev/fd", "/dev/tty")
	}
	return kind
}

// anyWord reports whether one of the words is so.
func anyWord(args []shellWord, so func(string) bool) bool {
	for i := range args {
		if so(args[i].text) {
			return true
		}
	}
	return false
}

func is(word string) func(string) bool { return func(w string) bool { return w == word } }

// isCounting knows the options with which a search tells only where, how often or whether: -l, -rc, --quiet.
func isCounting(option string) bool {
	switch option {
	case "--files-with-matches", "--files-without-match", "--count", "--quiet", "--silent":
		return true
	}
	return len(option) > 1 && option[0] == '-' && strings.Trim(option[1:], "rRniIwxvhHEFPaslLcq") == "" && strings.ContainsAny(option, "lLcq")
}

// isPacking reports whether the first word of tar makes or lists an archive in a file: czf, -tf.
func isPacking(mode string) bool {
	mode = strings.TrimPrefix(mode, "-")
	return isLetters(mode) && strings.ContainsAny(mode, "ct") && strings.HasSuffix(mode, "f")
}

// useOfFind is silent unless what it runs on each file is not.
func useOfFind(args []shellWord) use {
	for i := range args {
		if !isExec(args[i].text) {
			continue
		}
		run := shellCommand{words: args[i+1:]}
		if n := slices.IndexFunc(run.words, func(w shellWord) bool { return w.text == ";" || w.text == "+" || isExec(w.text) }); n >= 0 {
			run.words = run.words[:n]
		}
		name, words, _ := run.program()
		if name == "find" || name == "fd" || useOf(name, words) != silent {
			return unknown
		}
	}
	return silent
}

// isExec knows the options behind which find and fd are told what to run.
func isExec(w string) bool {
	switch w {
	case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
		return true
	}
	return false
}

// useOfGit is silent for what only moves files, and for what only names those that changed.
func useOfGit(args []shellWord) use {
	for i := range args {
		switch args[i].text {
		case "add", "rm", "mv", "commit", "status", "check-ignore", "ls-files", "restore", "checkout", "switch", "reset", "clone", "push", "pull",
			"fetch", "branch", "tag", "update-index", "merge", "rebase", "init", "clean", "worktree", "config", "remote", "filter-repo":
			return silent
		case "grep":
			return unlessQuiet(pattern, "grep", args[i:])
		case "stash":
			if i+1 < len(args) && args[i+1].text == "show" || anyWord(args, isPatchOption) {
				return unknown
			}
			return silent
		case "log":
			if anyWord(args, isPatchOption) {
				return unknown
			}
			return silent
		case "show", "diff":
			if anyWord(args, isStatOption) && !anyWord(args, func(w string) bool { return isPatchOption(w) || strings.IndexByte(w, ':') >= 0 }) {
				return silent
			}
			return unknown
		case "blame", "cat-file":
			return unknown
		}
	}
	return unknown
}

// isPatchOption knows the options of git with which it shows what changed in files.
func isPatchOption(w string) bool {
	switch w {
	case "-p", "-u", "-c", "-m", "-W", "--cc", "--binary", "--patch", "--ext-diff":
		return true
	}
	for _, begin := range [...]string{"-U", "-L", "--unified", "--patch-with", "--word-diff", "--color-words", "--function-context", "--remerge-diff", "--diff-merges"} {
		if strings.HasPrefix(w, begin) {
			return true
		}
	}
	return false
}

// isStatOption knows the options of git with which it only names or counts what changed.
func isStatOption(w string) bool {
	switch w {
	case "--name-only", "--name-status", "--numstat", "--shortstat", "--summary", "--quiet", "--no-patch", "-s":
		return true
	}
	return strings.HasPrefix(w, "--stat")
}

// showsLoaded reports whether a program prints variables that it loads from a file.
func showsLoaded(name string, kind use, args []shellWord) bool {
	switch {
	case kind == script:
		return anyWord(args, readsVariable)
	case name == "terraform" || name == "tofu":
		return anyWord(args, is("console"))
	case name == "docker" || name == "podman" || name == "docker-compose":
		return anyWord(args, func(w string) bool { return w == "config" || w == "convert" }) && !anyWord(args, func(w string) bool {
			return w == "-q" || w == "--quiet" || w == "--services" || w == "--images" || w == "--volumes" || w == "--profiles" || w == "--hash"
		})
	}
	return false
}

// isLoading knows the options that name a file from which variables are loaded.
func isLoading(option string) bool {
	option = strings.TrimLeft(option, "-")
	return strings.HasPrefix(option, "env-file") || strings.HasPrefix(option, "var-file")
}

// readsVariable reports whether a script speaks of a variable of its environment.
func readsVariable(script string) bool {
	for _, s := range [...]string{"process.env", "environ", "getenv", "ENV[", "$ENV{", "Deno.env", "Bun.env"} {
		if strings.Contains(script, s) {
			return true
		}
	}
	return false
}

// printsVariable reports whether a command prints a variable that a file may have set.
func (c *shellCommand) printsVariable(name string, args []shellWord, kind use) bool {
	switch {
	case name == "echo" || name == "printf" || name == "print":
		return anyWord(args, holdsVariable)
	case name == "cat":
		return holdsVariable(c.here)
	case name == "printenv":
		return true
	case name == "declare" || name == "typeset" || name == "export":
		return anyWord(args, is("-p"))
	}
	return kind == script && (anyWord(args, readsVariable) || readsVariable(c.here))
}

// holdsVariable reports whether a variable stands in a text: not $?, $1, nor a folder.
func holdsVariable(text string) bool {
	for {
		_, rest, ok := strings.Cut(text, "$")
		if !ok {
			return false
		}
		text = rest
		rest = strings.TrimLeft(rest, "{!#")
		n := 0
		for n < len(rest) && n < 8 && isVariable(rest[n:n+1]) {
			n++
		}
		switch name := rest[:n]; {
		case n == 0 || name[0] >= '0' && name[0] <= '9', name == "HOME", name == "PWD", name == "USER":
		default:
			return true
		}
	}
}

// kept is what the commands of a line so far took out of private files.
type kept struct {
	loaded string   // what the file is that set variables
	copied string   // what the file is that was copied
	copies []string // where to
}

// maxCopies is how many copies of private files are known.
const maxCopies = 16

// takes remembers what a command takes out of private files without printing it.
func (l *look) takes(name string, args []shellWord) {
	switch name {
	case "source", ".":
		for i := 0; i < len(args) && i < maxOptions; i++ {
			if what := l.private(args[i].text, operand); what != "" {
				l.kept.loaded = what
			}
		}
	case "cp", "mv", "ln", "install":
		last, found := "", ""
		for i := range args {
			text := args[i].text
			if text == "" || text[0] == '-' || args[i].written {
				continue
			}
			if what := l.private(last, operand); what != "" {
				found = what
			}
			last = text
		}
		if found != "" && last != "" && len(l.kept.copies) < maxCopies {
			l.kept.copied, l.kept.copies = found, append(l.kept.copies, path.Clean(last))
		}
	}
}

// copied says what a word is if a private file was copied there.
func (l *look) copied(word string) string {
	if len(l.kept.copies) == 0 || len(word) > maxPath {
		return ""
	}
	if slices.Contains(l.kept.copies, path.Clean(word)) {
		return l.kept.copied
	}
	return ""
}

// feeding says which commands name files that others read: through xargs, a loop, or as words of theirs.
func feeding(commands []shellCommand) (feeds []bool) {
	for i := 0; i < len(commands); {
		end := i + 1
		for end < len(commands) && commands[end].group == commands[i].group {
			end++
		}
		if end-i > 1 || commands[i].more {
			feeds = feedingOf(commands, i, end, feeds)
		}
		i = end
	}
	return feeds
}

// feedingOf adds those of one group.
func feedingOf(commands []shellCommand, from, end int, feeds []bool) []bool {
	loop, last, first := false, from, end
	for i := from; i < end; i++ {
		c := &commands[i]
		name, args, xargs := c.program()
		switch {
		case name == "read" || name == "for":
			loop = true
		case name == "", name == "done":
		case xargs || name == "parallel", loop && anyWord(c.words, holdsVariable):
			if useOf(name, args) != silent {
				last = i
			}
		case c.more && first == end:
			if kind := useOf(name, args); kind == reader || kind == pattern {
				first = i + 1
			}
		}
	}
	if last == from && first == end {
		return feeds
	}
	if feeds == nil {
		feeds = make([]bool, len(commands))
	}
	for i := from; i < end; i++ {
		feeds[i] = i < last || i >= first
	}
	return feeds
}

// eachPattern calls visit with the names for which the words of a program look that names files.
func eachPattern(name string, args []shellWord, visit func(word string, as role)) {
	switch name {
	case "find", "fd", "rg", "grep", "egrep", "fgrep", "awk", "gawk", "sed", "ag":
	default:
		return
	}
	for i := range args {
		text := args[i].text
		switch {
		case text == "" || text[0] == '-':
			if name != "find" && len(text) > 1 && text[1] != '-' && strings.IndexByte(text, 'v') > 0 || text == "--invert-match" {
				return // it names all others
			}
		case i > 1 && name == "find" && (args[i-2].text == "!" || args[i-2].text == "-not"):
		case i > 0 && name == "fd" && args[i-1].text == "-e":
			visit("x."+text, operand)
		default:
			plain := strings.NewReplacer(`\`, "", "^", "", "$", "", ".*", "*").Replace(strings.Trim(text, "/"))
			visit(plain, operand)
			visit("x"+plain, operand)
		}
	}
}

// takesSilently reports whether a command prints nothing of what is piped to it.
func (c *shellCommand) takesSilently() bool {
	name, args, xargs := c.program()
	return !xargs && len(args)+1 == len(c.words) && useOf(name, args) == silent
}
