package privacy

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// isLoading knows the options that name a file from which variables are loaded.
func isLoading(option string) bool {
	option = strings.TrimLeft(option, "-")
	return strings.HasPrefix(option, "env-file") || strings.HasPrefix(option, "var-file")
}

// printsVariable reports whether a command prints a variable that a file may have set.
func (c *shellCommand) printsVariable() bool {
	switch c.name {
	case "echo", "printf", "print":
		return anyWord(c.args, holdsVariable)
	case "cat":
		return holdsVariable(c.hereDocs)
	case "printenv":
		return true
	case "declare", "typeset", "export":
		return anyWord(c.args, func(w string) bool { return w == "-p" })
	}
	return c.use == runsCode && (readsVariable.among(c.args) || readsVariable.has(c.hereDocs))
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

// taint is what the commands of a line so far took out of private files.
type taint struct {
	loadedFrom string   // what the file is that set variables
	copiedFrom string   // what the file is that was copied
	copies     []string // where to
}

// maxCopies is how many copies of private files are known.
const maxCopies = 64

// takes remembers what a command takes out of private files without printing it.
func (l *inspection) takes(c *shellCommand) {
	args := c.args
	switch known := c.program; {
	case known.has(loadsVariables):
		for _, w := range args[:min(len(args), maxOptions)] {
			if what := l.private(w.text, roleOperand); what != "" {
				l.taint.loadedFrom = what
			}
		}
	case known.has(copiesFiles):
		l.copies(known, args)
	case known.has(copiesByCommand):
		if command, files := known.command(args); command == "cp" {
			l.copies(known, files)
		}
	case known.has(packsFiles):
		l.packs(args)
	}
}

// copies remembers the words behind a private file: it is copied to one of them.
func (l *inspection) copies(known *program, args []shellWord) {
	copied := ""
	for i := range args {
		text := args[i].text
		if text == "" || text[0] == '-' || args[i].written || i > 0 && known.takes.has(args[i-1].text) {
			continue
		}
		if copied != "" {
			l.copiedTo(copied, text)
		}
		_, inside, _ := strings.Cut(text, ":")
		copied = cmp.Or(l.private(text, roleOperand), l.private(inside, roleOperand), copied)
	}
}

// packs remembers the archive that takes a private file.
func (l *inspection) packs(args []shellWord) {
	archive := ""
	for i := range args {
		text := args[i].text
		switch {
		case text == "-x":
			return
		case text == "" || text[0] == '-' || args[i].written || i > 0 && (args[i-1].text == "--exclude" || args[i-1].text == "-X"):
		case i == 0 && isPacking(text):
		case archive == "":
			archive = text
		default:
			if what := l.private(text, roleOperand); what != "" {
				l.copiedTo(what, archive)
				return
			}
		}
	}
}

// copiedTo remembers a file that holds what a private one does, on this machine or in a container.
func (l *inspection) copiedTo(what, to string) {
	if len(to) > maxPath || len(l.taint.copies)+1 >= maxCopies {
		return
	}
	l.taint.copiedFrom, l.taint.copies = what, append(l.taint.copies, path.Clean(to))
	if _, inside, ok := strings.Cut(to, ":"); ok && inside != "" {
		l.taint.copies = append(l.taint.copies, path.Clean(inside))
	}
}

// copied says what a word is if a private file was copied there.
func (l *inspection) copied(word string) string {
	if len(l.taint.copies) == 0 || len(word) > maxPath {
		return ""
	}
	if slices.Contains(l.taint.copies, path.Clean(word)) {
		return l.taint.copiedFrom
	}
	return ""
}
