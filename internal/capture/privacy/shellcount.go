package privacy

import "strings"

// onlyCounts reports whether a search is told to tell only where, how often or whether: grep -rc, rg -l, git grep --quiet.
// An option behind one that may take a word does not count, as it may be that word.
func (p *program) onlyCounts(args []shellWord) bool {
	counts, taken := false, false
	for i := range args {
		text := args[i].text
		switch {
		case text == "--":
			return counts && !taken
		case p.prints.has(text):
			return false
		case len(text) < 2 || text[0] != '-':
			taken = false
			continue
		}
		short := text[1] != '-' && strings.Trim(text[1:], p.flags) == ""
		counts = counts || !taken && (short && strings.ContainsAny(text, p.counts) || p.tells.has(text))
		taken = !short && p.mayTakeWord(text)
	}
	return counts
}

// mayTakeWord reports whether an option of a search may take the next word.
func (p *program) mayTakeWord(option string) bool {
	if p.alone.has(option) || p.tells.has(option) {
		return false
	}
	if strings.ContainsRune("ABCm", rune(option[1])) && len(option) > 2 {
		return strings.Trim(option[2:], "0123456789") != ""
	}
	return option[1] != '-' || strings.IndexByte(option, '=') < 0
}
