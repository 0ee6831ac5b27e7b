package relay

import "strings"

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
