package privacy

import "strings"

// onlyCounts reports whether a search is told to tell only where, how often or whether: grep -rc, rg -l, git grep --quiet.
// An option behind one that may take a word does not count, as it may be that word.
func (p *program) onlyCounts(name string, args []shellWord) bool {
	counts, taken := false, false
	for i := range args {
		text := args[i].text
		switch {
		case text == "--":
			return counts && !taken
		case prints.has(text), (name == "ag" || name == "ack") && strings.HasPrefix(text, "--no"):
			return false
		case len(text) < 2 || text[0] != '-':
			taken = false
			continue
		}
		short := text[1] != '-' && strings.Trim(text[1:], p.flags) == ""
		counts = counts || !taken && (short && strings.ContainsAny(text, p.counts) || countsByName(name, text))
		taken = !short && mayTakeWord(name, text)
	}
	return counts
}

// prints are the options of a search with which it prints lines, whatever others say.
var prints = list{"--json", "--passthru", "-O*", "--open*"}

// countsByName knows the long options of onlyCounts.
func countsByName(name, option string) bool {
	switch option {
	case "--files-with-matches", "--files-without-match", "--files-without-matches", "--count":
		return true
	case "--quiet":
		return name != "ag" && name != "ack"
	case "--silent": // of ag and ack it is about errors
		return name != "ag" && name != "ack" && name != "rg"
	}
	return false
}

// takeNone are options of a search that take no word.
var takeNone = list{
	"--recursive", "--ignore-case", "--line-number", "--hidden", "--no-ignore", "--word-regexp", "--fixed-strings", "--extended-regexp",
	"--perl-regexp", "--no-messages", "--invert-match", "--follow", "--smart-case", "--cached", "--untracked", "--null",
}

// mayTakeWord reports whether an option of a search may take the next word.
func mayTakeWord(name, option string) bool {
	switch {
	case takeNone.has(option):
		return false
	case option == "--color", option == "--colour":
		return name == "rg"
	}
	if strings.ContainsRune("ABCm", rune(option[1])) && len(option) > 2 {
		return strings.Trim(option[2:], "0123456789") != ""
	}
	return !countsByName(name, option) && (option[1] != '-' || strings.IndexByte(option, '=') < 0)
}
