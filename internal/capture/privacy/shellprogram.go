package privacy

import (
	"path"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/toolinput"
)

// programOf is the program that a command runs, without its folder, and the words behind it. Programs that run it, as sudo
// does, are passed over; xargs says that one of them is that one.
func programOf(words []shellWord) (name string, args []shellWord, xargs bool) {
	runner := false
	for i := range words {
		w := &words[i]
		switch {
		case i == maxWordsBefore:
			return "", words[i:], xargs
		case w.written || w.read || toolinput.IsAssignment(w.text):
			continue
		case runner && (strings.HasPrefix(w.text, "-") || isNumber(w.text)):
			continue
		}
		base := path.Base(w.text)
		if !programNamed(base).has(runsProgram) {
			return strings.ToLower(base), words[i+1:], xargs
		}
		runner, xargs = true, xargs || base == "xargs"
	}
	return "", nil, xargs
}

// meets reports whether the words behind a program's name are so.
func (p *program) meets(c condition, args []shellWord) bool {
	command, _ := p.command(args)
	switch {
	case c == condition{}:
		return false
	case c.first != nil && !c.first.has(command), c.other != nil && (command == "" || c.other.has(command)):
		return false
	case c.any != nil && !c.any.among(args), c.and != nil && !c.and.among(args):
		return false
	}
	return !c.none.among(args)
}

// meetsAny reports whether the words behind a program's name are as one of some conditions says.
func (p *program) meetsAny(all []condition, args []shellWord) bool {
	return slices.ContainsFunc(all, func(c condition) bool { return p.meets(c, args) })
}

// command is the first word behind a program's name that is neither an option nor the word of one, and what stands behind it. Without
// one it is empty.
func (p *program) command(args []shellWord) (name string, behind []shellWord) {
	for i := 0; i < len(args); i++ {
		switch w := &args[i]; {
		case w.written || w.read:
		case !strings.HasPrefix(w.text, "-"):
			return w.text, args[i+1:]
		case p.before.has(w.text):
			i++
		}
	}
	return "", nil
}

// isNumber reports whether a word is a number, perhaps of seconds: 5, 0.5, 10s.
func isNumber(w string) bool { return w != "" && w[0] >= '0' && w[0] <= '9' && len(w) < 8 }

// A role is what a command does with one word that may be a file.
type role byte

const (
	roleUnseen  role = iota // nothing of it is printed
	roleShown               // what the command prints may hold it; only names that are nothing else count
	roleOperand             // the same, and it stands where only a file may
	roleOutput              // it is written
)

// eachOperand calls visit with what may be files among the words of a command. Of one that names files which another reads,
// what they are called counts too.
func (c *shellCommand) eachOperand(visit func(word string, as role)) {
	kind, first := c.use, len(c.words)-len(c.args)
	for i := range c.words[:first] {
		switch w := &c.words[i]; {
		case w.written:
			visit(w.text, roleOutput)
		case w.read:
			visit(w.text, roleOperand)
		case i == first-1 && !mayBePrivate(w.text): // the program
		case len(c.words) == 1, !toolinput.IsAssignment(w.text): // of a script, or of no shell; of what runs the program
			visit(w.text, roleShown)
		}
	}
	wantsPattern, skip := kind == searchesFiles, false
	gitSub := c.name == "git" && kind == searchesFiles
	shows, plain := c.program.meets(c.program.loads, c.args), false // plain: behind --
	for i := range c.args {
		w := &c.args[i]
		text := w.text
		switch {
		case w.written:
			visit(text, roleOutput)
		case w.read && kind != printsNothing:
			visit(text, roleOperand)
		case skip:
			skip = false
		case text == "--" && kind == searchesFiles:
			plain = true
		case kind == searchesFiles && !plain && c.program.endsInPattern(text):
			wantsPattern, skip = false, true
		case len(text) > 1 && text[0] == '-' && !plain:
			taken := c.program.takesWord(kind, text) && !(shows && isLoading(text))
			skip = taken && takesNext(text)
			wantsPattern = wantsPattern && !isPatternOption(kind, text)
			if !taken {
				visit(text, kind.roleOf(roleShown))
			}
		case gitSub && text == "grep":
			gitSub = false
		case wantsPattern && !gitSub:
			wantsPattern = false
		default:
			visit(text, kind.roleOf(roleOperand))
		}
	}
}

// takesNext reports whether the value of an option is the next word, and not a part of its own.
func takesNext(option string) bool {
	return len(option) == 2 || option[1] != 'S' && option[1] != 'G' && strings.IndexByte(option, '=') < 0
}

// roleOf is the role of a word of a program of this use.
func (u use) roleOf(as role) role {
	switch {
	case u == printsNothing:
		return roleUnseen
	case u == writesFiles:
		return roleOutput
	case u == readsFiles || u == searchesFiles:
		return as
	}
	return roleShown
}

// isPatternOption reports whether what is looked for stands at an option.
func isPatternOption(kind use, option string) bool {
	return kind == searchesFiles && (option == "-e" || option == "-f" || strings.HasPrefix(option, "--regexp") || option == "--files" || strings.HasPrefix(option, "--file"))
}

// endsInPattern reports whether several letters of a search are one option, whose next word is what is looked for: -ie.
func (p *program) endsInPattern(option string) bool {
	return p.has(bundlesPattern) && len(option) > 2 && option[0] == '-' && option[len(option)-1] == 'e' &&
		strings.Trim(option[1:len(option)-1], "niwxvsFEoHacl") == ""
}

// isGivenCommand reports whether word i of a command that gives commands is a shell line.
func (c *shellCommand) isGivenCommand(i int) bool {
	if i == 0 {
		return false
	}
	if strings.ContainsAny(c.words[i].text, " \t\n;|") {
		return true
	}
	before := c.words[i-1].text // -c, -lc, /c
	return len(before) > 1 && len(before) < 6 && (before[0] == '-' || before[0] == '/') && before[len(before)-1] == 'c'
}

// eachQuoted calls use with what stands in quotes in a script, and is not longer than a path.
func eachQuoted(text string, use func(string)) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '"' && c != '\'' && c != '`' {
			continue
		}
		rest := text[i+1 : min(len(text), i+1+256)]
		n := strings.IndexByte(rest, c)
		if n < 0 {
			continue
		}
		if n > 0 && strings.IndexByte(rest[:n], '\n') < 0 {
			use(rest[:n])
			i += n + 1
		}
	}
}
