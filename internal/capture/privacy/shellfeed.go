package privacy

import (
	"slices"
	"strings"
)

// feeding says which commands name files that others read: through xargs, a loop, or as words of theirs.
func feeding(commands []shellCommand) (feeds []bool) {
	for i := 0; i < len(commands); {
		end := i + 1
		for end < len(commands) && commands[end].group == commands[i].group {
			end++
		}
		if end-i > 1 || commands[i].hasSubstitution {
			feeds = feedingOf(commands, i, end, feeds)
		}
		i = end
	}
	return feeds
}

// feedingOf adds those of one group.
func feedingOf(commands []shellCommand, from, end int, feeds []bool) []bool {
	loop, named, last, first := false, -1, from, end
	shows := false // what a for goes through may be printed
	for i := from; i < end; i++ {
		c := &commands[i]
		shows = shows || named >= 0 && c.usesNamed()
		switch {
		case isLoop(c):
			loop, named = true, i
		case c.name == "read":
			loop = true
		case c.name == "", c.name == "done":
		case c.xargs || c.name == "parallel", loop && anyWord(c.words, holdsVariable):
			if c.use != printsNothing {
				last = i
			}
		case c.hasSubstitution && first == end:
			if c.use == readsFiles || c.use == searchesFiles {
				first = i + 1
			}
		}
	}
	if last == from && first == end && !shows {
		return feeds
	}
	if feeds == nil {
		feeds = make([]bool, len(commands))
	}
	for i := from; i < end; i++ {
		feeds[i] = i < last || i >= first || shows && i <= named && isLoop(&commands[i])
	}
	return feeds
}

// isLoop reports whether a command begins a loop over names.
func isLoop(c *shellCommand) bool { return c.name == "for" }

// usesNamed reports whether a command of a loop may print what a file holds, or keep it for another one.
func (c *shellCommand) usesNamed() bool {
	switch {
	case slices.ContainsFunc(c.words, func(w shellWord) bool { return w.read }):
		return true
	case c.name == "", c.name == "done", c.name == "read", c.name == "fi":
		return false
	case c.program.has(keepsFiles):
		return anyWord(c.words, holdsVariable)
	}
	return c.use != printsNothing
}

// eachPattern calls visit with the names for which the words of a program look that names files.
func (c *shellCommand) eachPattern(visit func(word string, as role)) {
	name, args := c.name, c.args
	if !c.program.has(matchesNames) {
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
			visit("x."+text, roleOperand)
		default:
			plain := strings.NewReplacer(`\`, "", "^", "", "$", "", ".*", "*").Replace(strings.Trim(text, "/"))
			visit(plain, roleOperand)
			visit("x"+plain, roleOperand)
		}
	}
}

// takesSilently reports whether a command prints nothing of what is piped to it.
func (c *shellCommand) takesSilently() bool {
	return !c.xargs && len(c.args)+1 == len(c.words) && c.use == printsNothing
}
