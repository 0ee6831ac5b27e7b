package extractive

import (
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/sentence"
)

// maxCode is how many lines a piece of code must have, with its fence, not to be quoted: a listing, not a command.
const maxCode = 7

// answerText is the narrative of a message of the agent, without what it asks of the person at its end, unless that is all it says: that is
// about what comes next. What it lets the person choose from stays, as what was open then.
func answerText(message []block, n int) string {
	if before, _, options := cutAsking(message, false); len(before) > 0 && len(options) == 0 {
		message = before
	}
	return narrative(message, n)
}

// narrative is a text in its own words and layout, cut to n runes where a block or a sentence ends. Long code is left out, and what only
// announces it.
func narrative(all []block, n int) string {
	all = begun(all)
	var kept []block
	left := n
	for i, b := range all {
		if b.shape == code && strings.Count(b.raw, "\n") >= maxCode || b.leads() && !followed(all[i+1:]) {
			continue
		}
		size := runes(b.raw) + 2
		if size > left {
			if left > n/5 && b.shape != code && b.shape != table {
				if s := lead(b.raw, left); !strings.HasSuffix(s, "…") || len(kept) == 0 {
					b.raw = s
					kept = append(kept, b)
				}
			}
			break
		}
		left -= size
		kept = append(kept, b)
	}
	for len(kept) > 0 && kept[len(kept)-1].leads() && (len(kept) > 1 || len(all) > 1) {
		kept = kept[:len(kept)-1]
	}
	return layOut(kept)
}

// begun is a message from its first sentence on that is neither an interjection nor an announcement; all of it where it has none.
func begun(all []block) []block {
	for i, b := range all {
		if b.shape != paragraph {
			if b.shape == heading && !slices.ContainsFunc(all[i:], func(b block) bool { return b.shape != heading }) {
				return all
			}
			return all[i:]
		}
		for rest := b.raw; rest != ""; {
			s, behind := sentence.First(rest)
			if !interjects(plain(s)) {
				b.raw, b.text = strings.TrimSpace(rest), plain(line(rest))
				return append([]block{b}, all[i+1:]...)
			}
			rest = behind
		}
	}
	return all
}

// interjects is for a sentence of one or two short words, such as "Done!", for one that only says what comes next, and for an exclamation
// that names nothing and says of nothing that it was done. What stands behind an announcement counts alone.
func interjects(s string) bool {
	s = sentence.Unannounced(s)
	if (block{text: s}).leads() {
		return sentence.PurposeOf(s) == sentence.Announce
	}
	weight, _ := sentence.Weigh(s, 0)
	exclaims := weight == 0 && strings.HasSuffix(s, "!") && !sentence.Holds(s, sentence.Done)
	return sentence.Letters(s) < sentence.MinLetters && len(strings.Fields(s)) <= 2 || exclaims || sentence.PurposeOf(s) == sentence.Announce
}

// opening is the beginning of what a text says, in whole sentences of at most n runes: its first paragraphs, as many as
// it takes to say something, without words of consent before them.
func opening(all []block, n int) string {
	said := ""
	for _, b := range all {
		if b.shape != paragraph || b.leads() && !strings.Contains(b.text, ". ") {
			continue
		}
		s := b.text
		for s != "" {
			first, rest := sentence.First(s)
			if sentence.Telling(first) {
				break
			}
			s = rest
		}
		if s = strings.TrimSpace(s); s == "" || !prosy(s) {
			continue
		}
		if said = strings.TrimSpace(said + " " + s); sentence.Letters(said) >= 2*sentence.MinLetters {
			break
		}
	}
	if said == "" {
		return reportTitle(all)
	}
	return unannounced(lead(said, n))
}

// unannounced takes off the last sentence of s if it only announces what is not quoted here, and is not the only one.
func unannounced(s string) string {
	if !strings.HasSuffix(s, ":") && !strings.HasSuffix(s, "：") {
		return s
	}
	kept, last := "", ""
	for rest := s; rest != ""; {
		kept = strings.TrimSpace(kept + " " + last)
		if last, rest = sentence.First(rest); last == "" {
			break
		}
	}
	if sentence.Letters(kept) < sentence.MinLetters {
		return strings.TrimRight(s, ":：")
	}
	return kept
}

// followed tells whether what is announced by the block before rest is quoted.
func followed(rest []block) bool {
	return len(rest) == 0 || rest[0].shape != code || strings.Count(rest[0].raw, "\n") < maxCode
}

// layOut puts blocks under each other as they stood.
func layOut(all []block) string {
	var b strings.Builder
	for i, bl := range all {
		switch {
		case i > 0 && (bl.gap || bl.shape == code):
			b.WriteString("\n\n")
		case i > 0:
			b.WriteByte('\n')
		}
		b.WriteString(bl.raw)
	}
	return strings.TrimSpace(b.String())
}
