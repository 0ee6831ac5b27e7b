package privacy

import (
	"path"
	"slices"
	"strings"
)

// newCommand is the command that words are, and what it does.
func newCommand(words []shellWord) shellCommand {
	c := shellCommand{words: words}
	c.resolve()
	return c
}

// resolve finds out which program a command runs, and what that does.
func (c *shellCommand) resolve() {
	c.name, c.args, c.xargs = programOf(c.words)
	c.program = programNamed(c.name)
	c.use = useOf(c.name, c.args)
	c.takesLine = slices.ContainsFunc(c.words[:min(len(c.words), maxWordsBefore)], func(w shellWord) bool {
		base := path.Base(w.text)
		return programNamed(base).has(takesLine) || isShell(base)
	})
}

// useOf says what a program does with files.
func useOf(name string, args []shellWord) use {
	switch name {
	case "git":
		return useOfGit(args)
	case "find", "fd":
		return useOfFind(args)
	}
	p := programNamed(name)
	switch {
	case p.edits.among(args):
		return writesFiles
	case p.use != printsNothing && !p.isQuiet(args):
		return p.use
	case p.meets(p.loud, args), printing.among(args):
		return mayPrintFiles
	}
	return printsNothing
}

// isQuiet reports whether a program prints nothing of its files because its words say so: grep -l, openssl -noout.
func (p *program) isQuiet(args []shellWord) bool {
	switch {
	case p.meetsAny(p.quiet, args):
		return true
	case p.flags != "":
		return p.onlyCounts(args)
	case len(args) == 0:
		return false
	case p.has(packsFiles):
		return isPacking(args[0].text) && !anyWord(args, func(w string) bool { return w == "-" })
	}
	command, inside := p.command(args)
	return p.has(entersContainer) && command == "exec" && useInside(inside) == printsNothing
}

// isPacking reports whether the first word of tar makes or lists an archive in a file: czf, -tf.
func isPacking(mode string) bool {
	mode = strings.TrimPrefix(mode, "-")
	return isLetters(mode) && strings.ContainsAny(mode, "ct") && strings.HasSuffix(mode, "f")
}

// useInside is the use of what runs in a container: behind --, or behind the container's name.
func useInside(args []shellWord) use {
	args = args[:min(len(args), maxOptions)]
	from := slices.IndexFunc(args, func(w shellWord) bool { return w.text == "--" })
	if from < 0 {
		from = slices.IndexFunc(args, func(w shellWord) bool { return !strings.HasPrefix(w.text, "-") })
	}
	return newCommand(args[from+1:]).use
}

// execOptions are the options behind which find and fd are told what to run.
var execOptions = newList("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch")

// execEnds are the signs that end it.
var execEnds = parseList("; +")

// useOfFind is printsNothing unless what it runs on each file may print some of it.
func useOfFind(args []shellWord) use {
	for i := range args {
		if !execOptions.has(args[i].text) {
			continue
		}
		words := args[i+1:]
		if n := slices.IndexFunc(words, func(w shellWord) bool { return execEnds.has(w.text) || execOptions.has(w.text) }); n >= 0 {
			words = words[:n]
		}
		if run := newCommand(words); run.name == "find" || run.name == "fd" || run.use != printsNothing {
			return mayPrintFiles
		}
	}
	return printsNothing
}

// useOfGit is the use of the command of git among its words.
func useOfGit(args []shellWord) use {
	for i := range args {
		sub, about := args[i].text, args[i:]
		if sub == "grep" {
			return useOf("grep", about)
		}
		at := slices.IndexFunc(gitRows(), func(r gitRow) bool { return r.names.has(sub) })
		if at < 0 {
			continue
		}
		row := gitRows()[at]
		if row.allWords {
			about = args
		}
		if sub == "stash" && i+1 < len(args) && args[i+1].text == "show" || !programNamed("git").meets(row.quietIf, about) {
			return mayPrintFiles
		}
		return printsNothing
	}
	return mayPrintFiles
}
