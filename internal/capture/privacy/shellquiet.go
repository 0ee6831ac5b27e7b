package privacy

import (
	"slices"
	"strings"
)

// unlessQuiet is the use of a program that prints nothing of its files if its words say so: grep -l, sed -i, openssl -noout.
func unlessQuiet(kind use, name string, args []shellWord) use {
	quiet := false
	switch name {
	case "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack":
		quiet = onlyCounts(name, args)
	case "diff", "cmp":
		quiet = anyWord(args, func(w string) bool { return w == "-q" || w == "--brief" || w == "-s" && name == "cmp" })
	case "sed", "gsed":
		if anyWord(args, func(w string) bool { return strings.HasPrefix(w, "-i") || strings.HasPrefix(w, "--in-place") }) {
			return writer
		}
	case "openssl":
		quiet = len(args) > 0 && (args[0].text == "verify" || anyWord(args, is("-noout"))) && !anyWord(args, is("-text"))
	case "docker", "podman", "kubectl", "oc":
		quiet = len(args) > 0 && (args[0].text == "cp" && !anyWord(args, is("-")) || args[0].text == "exec" && useInside(args[1:]) == silent)
	case "helm":
		quiet = len(args) > 0 && (args[0].text == "upgrade" || args[0].text == "install" || args[0].text == "lint") &&
			!anyWord(args, func(w string) bool {
				return strings.HasPrefix(w, "--dry-run") || w == "--debug" || strings.HasPrefix(w, "-o") || strings.HasPrefix(w, "--output")
			})
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
	run := shellCommand{words: args[from+1:]}
	name, words, _ := run.program()
	return useOf(name, words)
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

// useOfGit is silent for what only moves files, and for what only names those that changed, unless it is to show the changes.
func useOfGit(args []shellWord) use {
	for i := range args {
		switch args[i].text {
		case "add", "rm", "mv", "commit", "status", "check-ignore", "ls-files", "restore", "checkout", "switch", "reset", "clone", "push", "pull",
			"fetch", "branch", "tag", "update-index", "merge", "rebase", "init", "clean", "worktree", "remote", "filter-repo", "log":
			if anyWord(args[i:], isPatchOption) || args[i].text == "commit" && anyWord(args[i:], is("-v")) {
				return unknown
			}
			return silent
		case "grep":
			return unlessQuiet(pattern, "grep", args[i:])
		case "stash":
			if i+1 < len(args) && args[i+1].text == "show" || anyWord(args, isPatchOption) {
				return unknown
			}
			return silent
		case "config":
			if anyWord(args[i:], func(w string) bool { return w == "-l" || w == "--list" || strings.HasPrefix(w, "--get") }) {
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
	case "-p", "-u", "-c", "-W", "--cc", "--binary", "--patch", "--ext-diff":
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
