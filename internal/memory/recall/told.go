package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/sentence"
	"github.com/cmemd/cmemd/projections/rows"
)

// saidTexts is what an injected text says so far, by the words of its sentences, so that it says nothing twice.
type saidTexts []string

// leastTold is how many words a sentence has that counts as said: fewer stand in any text.
const leastTold = 4

// has reports whether a sentence was said, alone or within another.
func (t saidTexts) has(s string) bool {
	words, n := plainWords(s)
	return n >= leastTold && slices.ContainsFunc(t, func(said string) bool { return strings.Contains(said, words) })
}

// add notes that a sentence is said.
func (t *saidTexts) add(s string) {
	words, _ := plainWords(s)
	*t = append(*t, words)
}

// note notes that a statement is said, below its head.
func (t *saidTexts) note(all []statement, i int) {
	t.add(all[i].text)
	if head := all[i].head; head >= 0 {
		t.add(all[head].text)
	}
}

// drop takes a note back.
func (t *saidTexts) drop(s string) {
	words, _ := plainWords(s)
	if i := slices.Index(*t, words); i >= 0 {
		*t = slices.Delete(*t, i, i+1)
	}
}

// plainWords are the words of a text in lower case, each with a blank on either side, and how many there are. Where no blanks are written
// two signs count as a word.
func plainWords(s string) (words string, n int) {
	list := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range list {
		if n++; unspaced(w) {
			n += (utf8.RuneCountInString(w)+1)/2 - 1
		}
	}
	return " " + strings.Join(list, " ") + " ", n
}

// unsaid is a text without the sentences that were said, cut at a sentence's end to at most limit characters. What it says is noted.
func (t *saidTexts) unsaid(text string, limit int) string {
	all := statementsOf(text)
	var kept []int
	for i, s := range all {
		if s.isHead || t.has(s.text) || s.leans && s.before >= 0 && !slices.Contains(kept, s.before) {
			continue
		}
		if limit -= costOf(all, []int{i}, kept); limit < 0 && len(kept) > 0 {
			break // one sentence that is longer is cut by whoever shows it
		}
		kept = append(kept, i)
		t.note(all, i)
	}
	return alone(all, kept)
}

// unsaidOf are those parts of a text of which not the beginning was said: the first sentence, up to a dash.
func (t *saidTexts) unsaidOf(parts []string, mark string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool {
		begins, _ := sentence.First(withoutMarks(part))
		begins, _, _ = strings.Cut(begins, " — ")
		return t.has(begins)
	}), mark)
}

// joined are sentences one behind the other, with a mark between where one has none.
func joined(sentences []string) string {
	var out strings.Builder
	for i, s := range sentences {
		if i > 0 && !endsSentence(sentences[i-1]) {
			out.WriteByte(';')
		}
		if i > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(s)
	}
	return out.String()
}

// sentencesOf are the sentences of a text, those of its paragraphs and items of lists, without code, tables and headings.
func sentencesOf(text string) (all []string) {
	code := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			code = !code
			continue
		}
		if code || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "|") {
			continue
		}
		for rest := withoutMarks(line); rest != ""; {
			var s string
			if s, rest = sentence.First(rest); s != "" {
				all = append(all, s)
			}
		}
	}
	return all
}

// withoutMarks is a line without the mark of a list's item, and without emphasis.
func withoutMarks(line string) string {
	if mark, rest, ok := strings.Cut(line, " "); ok && (mark == "-" || mark == "*" || mark == "•" || strings.Trim(mark, "0123456789") == "." || strings.Trim(mark, "0123456789") == ")") {
		line = rest
	}
	return strings.TrimSpace(strings.ReplaceAll(line, "**", ""))
}

// textOf is what a row says at most length, in the first of its texts that says anything.
func textOf(row rows.Row) string {
	return cmp.Or(row.Narrative, row.Text, row.Completed, row.Learned, strings.Join(row.Facts, "\n"), row.Subtitle)
}

// telling are the sentences of a row that tell most and were not said, whole, in their order, at most so many characters of them: the
// one that its title is made of before all others, and none that stands under a guess. What they say is noted. asked says that the
// prompt stands above, of which the first sentence may speak.
func (t *saidTexts) telling(row rows.Row, limit int, asked bool) string {
	type candidate struct{ at, weight int }
	all := statementsOf(textOf(row))
	if asked && len(all) > 0 {
		all[0].leans = false
	}
	var order []candidate
	for i, s := range all {
		weight, purpose := sentence.Weigh(s.text, 0)
		if quotes(titleOf(row), s.text) {
			weight, purpose = math.MaxInt, sentence.Plainly
		}
		guess := s.head >= 0 && sentence.Holds(all[s.head].text, sentence.Hedge)
		if purpose != sentence.Announce && sentence.Telling(s.text) && !s.isHead && !s.options && !guess && !t.has(s.text) {
			order = append(order, candidate{i, weight})
		}
	}
	slices.SortStableFunc(order, func(a, b candidate) int { return cmp.Compare(b.weight, a.weight) })
	var kept []int
	for _, c := range order {
		group, ok := t.understood(all, c.at, kept)
		n := costOf(all, group, kept)
		if !ok && c.weight < math.MaxInt || n > limit {
			continue
		}
		limit -= n
		for _, i := range group {
			t.note(all, i)
		}
		kept = append(kept, group...)
	}
	slices.Sort(kept)
	return alone(all, kept)
}

// understood is a statement, with those before it that it, or its head, speaks of and that are not kept yet. ok is false where it was
// said, or one of these was, elsewhere, and where what it speaks of is not there.
func (t *saidTexts) understood(all []statement, at int, kept []int) (group []int, ok bool) {
	for i := at; !slices.Contains(kept, i); {
		group = append(group, i)
		next, leans := all[i].before, all[i].leans
		if head := all[i].head; !leans && head >= 0 && all[head].leans && !t.has(all[head].text) {
			next, leans = all[head].before, true
		}
		if t.has(all[i].text) || leans && next < 0 {
			return group[:1], false
		}
		if !leans {
			break
		}
		i = next
	}
	return group, len(group) > 0
}

// costOf is how many characters a group of statements adds to those that are kept, with the heads that they need.
func costOf(all []statement, group, kept []int) (n int) {
	heads := map[int]bool{-1: true}
	for _, i := range kept {
		heads[all[i].head] = true
	}
	for _, i := range group {
		if n += size(all[i].text) + 1; !heads[all[i].head] {
			heads[all[i].head] = true
			n += size(all[all[i].head].text) + 2
		}
	}
	return n
}

// endsSentence reports whether a text ends with a mark that ends one.
func endsSentence(s string) bool { return strings.TrimRight(s, ".!?:;。！？…") != s }

// quotes reports whether a row's title, or what stands in it behind a label or behind what was asked, is only the beginning of what the
// row says.
func quotes(title, text string) bool {
	_, labelled, _ := strings.Cut(title, ": ")
	_, answered, _ := strings.Cut(title, " — ")
	all, _ := plainWords(text)
	return slices.ContainsFunc([]string{title, labelled, answered}, func(s string) bool {
		words, n := plainWords(strings.TrimSuffix(s, ellipsis))
		words = strings.TrimSuffix(words, " ")
		return n >= leastTold && strings.Contains(all, words) || n > 0 && strings.HasPrefix(all, words)
	})
}
