package evidence

import (
	"slices"
	"strings"
)

// MayChangeFiles reports whether the call ran a command line that may have changed files without its words saying
// which: a script, a build, a formatter, a redirection. It is false only for programs that are known to read alone, so
// true is a reason to look at the working tree, and no evidence of anything. Failing commands count: they may have
// done half of their work.
func (c *Call) MayChangeFiles() bool {
	if c.kind != Command {
		return false
	}
	return slices.ContainsFunc(c.simple, func(s Simple) bool { return redirects(s.Text) }) ||
		slices.ContainsFunc(c.runs, func(s Simple) bool { return mayWrite(s) || redirects(s.Text) })
}

// mayWrite reports whether c is not known to read alone.
func mayWrite(c Simple) bool {
	name, args := program(c.Words)
	if sub, _ := c.Git(); sub != "" {
		return !gitReads(sub)
	}
	hasOption := func(options ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool {
			return slices.ContainsFunc(options, func(o string) bool { return a == o || strings.HasPrefix(a, o+"=") })
		})
	}
	switch name {
	case "awk", "gawk", "mawk":
		return hasOption("-i", "--in-place")
	case "sed", "gsed", "perl", "ruby", "yq":
		return name == "perl" || name == "ruby" || inPlace(args)
	case "find":
		return hasOption("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprintf", "-fls")
	case "sort":
		return hasOption("-o", "--output")
	case "curl":
		return slices.ContainsFunc(args, func(a string) bool {
			return strings.HasPrefix(a, "-o") || strings.HasPrefix(a, "-O") || strings.HasPrefix(a, "--output") || strings.HasPrefix(a, "--remote-name")
		})
	case "go":
		return len(args) == 0 || !slices.Contains([]string{"vet", "list", "version", "env", "doc", "help"}, args[0])
	}
	return !OnlyReads(name)
}

// inPlace reports whether options ask for files to be rewritten: -i, -i.bak, -ni, --in-place.
func inPlace(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		if long, ok := strings.CutPrefix(a, "--"); ok {
			return strings.HasPrefix(long, "in-place") || strings.HasPrefix(long, "inplace")
		}
		return len(a) > 1 && a[0] == '-' && strings.Contains(a, "i")
	})
}

// gitReads names the sub-commands of git that leave the working tree alone. A commit is none: its hooks may format.
func gitReads(sub string) bool {
	switch sub {
	case "status", "log", "diff", "show", "blame", "annotate", "branch", "tag", "remote", "fetch", "describe", "ls-files", "ls-tree", "ls-remote",
		"grep", "cat-file", "rev-parse", "rev-list", "shortlog", "reflog", "config", "add", "push", "show-ref", "merge-base", "whatchanged",
		"for-each-ref", "name-rev", "diff-tree", "diff-files", "diff-index", "symbolic-ref", "count-objects", "var", "version", "help":
		return true
	}
	return false
}

// redirects reports whether the command, as written, sends its output into a file.
func redirects(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '\'', '"':
			i = quoteEnd(text, i)
		case '>':
			if intoFile(strings.TrimLeft(text[i:], ">|")) {
				return true
			}
		}
	}
	return false
}

// intoFile reports whether the target of a redirection, and what follows it, is a file that stays.
func intoFile(target string) bool {
	if rest, ok := strings.CutPrefix(target, "&"); ok && rest != "" && (rest[0] == '-' || rest[0] >= '0' && rest[0] <= '9') {
		return false
	}
	target = strings.TrimLeft(target, "& \t\"'")
	return !strings.HasPrefix(target, "/dev/") && !strings.HasPrefix(target, "(")
}
