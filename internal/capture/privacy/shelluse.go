package privacy

import (
	"path"
	"slices"
	"strings"
	"sync"
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
	c.known = programNamed(c.name)
	c.use = useOf(c.name, c.args)
	c.gives = slices.ContainsFunc(c.words[:min(len(c.words), maxBefore)], func(w shellWord) bool {
		base := path.Base(w.text)
		return programNamed(base).has(gives) || isShell(base)
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
		return writer
	case p.use != silent && !p.isQuiet(name, args):
		return p.use
	case p.loud.holds(args):
		return unknown
	}
	return silent
}

// isQuiet reports whether a program prints nothing of its files because its words say so: grep -l, sed -i, openssl -noout.
func (p *program) isQuiet(name string, args []shellWord) bool {
	switch {
	case slices.ContainsFunc(p.quiet, func(c condition) bool { return c.holds(args) }):
		return true
	case p.flags != "":
		return p.onlyCounts(name, args)
	case len(args) == 0:
		return false
	case name == "tar":
		return isPacking(args[0].text) && !list{"-"}.among(args)
	}
	return p.has(contains) && args[0].text == "exec" && useInside(args[1:]) == silent
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

// runsEach are the options behind which find and fd are told what to run.
var runsEach = list{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}

// useOfFind is silent unless what it runs on each file is not.
func useOfFind(args []shellWord) use {
	ends := append(list{";", "+"}, runsEach...)
	for i := range args {
		if !runsEach.has(args[i].text) {
			continue
		}
		words := args[i+1:]
		if n := slices.IndexFunc(words, func(w shellWord) bool { return ends.has(w.text) }); n >= 0 {
			words = words[:n]
		}
		if run := newCommand(words); run.name == "find" || run.name == "fd" || run.use != silent {
			return unknown
		}
	}
	return silent
}

// A gitRow is commands of git that are silent under a condition.
type gitRow struct {
	names list
	quiet condition
	whole bool // it is about all words of git, and not only those from the command's name on
}

// gitRows is the table of git's commands: what only moves files, and what only names those that changed, is silent, unless it is
// to show the changes.
var gitRows = sync.OnceValue(func() []gitRow {
	patches := words("-p -u -c -W --cc --binary --patch --ext-diff -U* -L* --unified* --patch-with* --word-diff* --color-words* " +
		"--function-context* --remerge-diff* --diff-merges*")
	return []gitRow{
		{quiet: condition{none: patches}, names: words(`add rm mv status check-ignore ls-files restore checkout switch reset clone push
			pull fetch branch tag update-index merge rebase init clean worktree remote filter-repo log`)},
		{quiet: condition{none: append(words("-v"), patches...)}, names: words("commit")},
		{quiet: condition{none: patches}, names: words("stash"), whole: true},
		{quiet: condition{none: words("-l --list --get*")}, names: words("config")},
		{
			quiet: condition{
				any:  words("--name-only --name-status --numstat --shortstat --summary --quiet --no-patch -s --stat*"),
				none: append(words("*:*"), patches...),
			},
			names: words("show diff"), whole: true,
		},
		{names: words("blame cat-file")},
	}
})

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
		if row.whole {
			about = args
		}
		if sub == "stash" && i+1 < len(args) && args[i+1].text == "show" || !row.quiet.holds(about) {
			return unknown
		}
		return silent
	}
	return unknown
}
