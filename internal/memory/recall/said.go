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

// saidTexts is what an injected text says so far, by the words of its sentences as plainWords gives them, so that it says nothing twice.
type saidTexts []string

// minSaidWords is how many words a sentence has that counts as said: fewer stand in any text.
const minSaidWords = 4

// has reports whether a sentence was said, alone or within another.
func (t saidTexts) has(s string) bool { return t.hasWords(plainWords(s)) }

// hasWords is has for a sentence by its words.
func (t saidTexts) hasWords(p plain) bool {
	return p.count >= minSaidWords && slices.ContainsFunc(t, func(said string) bool { return strings.Contains(said, p.words) })
}

// add notes that a sentence is said.
func (t *saidTexts) add(s string) { *t = append(*t, plainWords(s).words) }

// note notes that a statement is said, below its head.
func (t *saidTexts) note(all []statement, i int) {
	*t = append(*t, all[i].plain.words)
	if head := all[i].head; head >= 0 {
		*t = append(*t, all[head].plain.words)
	}
}

// drop takes a note back, of a text by its words.
func (t *saidTexts) drop(words string) {
	if i := slices.Index(*t, words); i >= 0 {
		*t = slices.Delete(*t, i, i+1)
	}
}

// plain is a text by its words alone.
type plain struct {
	words string // in lower case, each with a blank on either side
	count int    // of them; where no blanks are written two signs count as a word
}

// plainWords reads the words of a text.
func plainWords(s string) (p plain) {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte(' ')
	begins, signs := 0, 0 // of the word at hand
	end := func() {
		if signs == 0 {
			return
		}
		if p.count++; unspaced(b.String()[begins:]) {
			p.count += (signs+1)/2 - 1
		}
		b.WriteByte(' ')
		signs = 0
	}
	for _, r := range s {
		if r = lowered(r); !isPlain(r) {
			end()
			continue
		}
		if signs == 0 {
			begins = b.Len()
		}
		signs++
		if r < utf8.RuneSelf {
			b.WriteByte(byte(r))
		} else {
			b.WriteRune(r)
		}
	}
	end()
	if p.count == 0 {
		b.WriteByte(' ')
	}
	p.words = b.String()
	return p
}

// lowered is a rune in lower case.
func lowered(r rune) rune {
	switch {
	case r >= utf8.RuneSelf:
		return unicode.ToLower(r)
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	}
	return r
}

// isPlain reports whether a rune in lower case is part of a word.
func isPlain(r rune) bool {
	if r >= utf8.RuneSelf {
		return unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return 'a' <= r && r <= 'z' || '0' <= r && r <= '9'
}

// unsaid is a text without the sentences that were said, cut at a sentence's end to at most limit characters. What it says is noted.
func (t *saidTexts) unsaid(text string, limit int) string {
	all := statementsOf(text)
	var kept []int
	for i, s := range all {
		if s.isHead || t.hasWords(s.plain) || s.leans && s.before >= 0 && !slices.Contains(kept, s.before) {
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

// joinSentences are sentences one behind the other, with a mark between where one has none.
func joinSentences(sentences []string) string {
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

// withoutMarks is a line without the mark of a list's item, without emphasis and without the addresses of links.
func withoutMarks(line string) string {
	if mark, rest, ok := strings.Cut(line, " "); ok && (mark == "-" || mark == "*" || mark == "•" || strings.Trim(mark, "0123456789") == "." || strings.Trim(mark, "0123456789") == ")") {
		line = rest
	}
	return unmarked(line)
}

// unmarked is a line without emphasis and without the addresses of links, which whoever wants them finds in the row.
func unmarked(line string) string {
	return strings.TrimSpace(sentence.WithoutEmphasis(sentence.WithoutLinks(line)))
}

// textOf is what a row says at most length, in the first of its texts that says anything.
func textOf(row rows.Row) string {
	return cmp.Or(row.Narrative, row.Text, row.Completed, row.Learned, strings.Join(row.Facts, "\n"), row.Subtitle)
}

// reading is a row as it is read once, for all the forms in which it may be injected.
type reading struct {
	row    *rows.Row
	said   string      // its title by its words
	begin  []plain     // what its title says, as quotes compares it
	label  string      // with a colon: before what change its title and its text hold; "": they hold now
	all    []statement // of what it says at most length
	order  []candidate // of all, those that may be given at length: what says most first
	weight float64     // of those for which a line has room
}

// candidate is a statement of a row.
type candidate struct {
	at     int     // its number
	rank   int     // its weight among those of the row; the most for the one that the title is made of
	weight float64 // beside those of other rows
}

// readingOf reads a row: the sentence that its title is made of says more than all others, and none that stands under a guess is given.
func readingOf(row *rows.Row) *reading {
	title := titleOf(*row)
	text := textOf(*row)
	r := &reading{row: row, said: plainWords(title).words, begin: sayings(title), label: labelOf(title, text), all: statementsOf(text)}
	for i, s := range r.all {
		if s.isHead || s.options || !sentence.Telling(s.text) || s.head >= 0 && sentence.Holds(r.all[s.head].text, sentence.Hedge) {
			continue
		}
		rank, purpose := sentence.Weigh(s.text, 0)
		weight := float64(rank)
		if purpose == sentence.Plainly {
			weight *= plainShare
		}
		if beginAs(r.begin, s.plain) {
			r.order = append(r.order, candidate{i, math.MaxInt, weight})
		} else if purpose != sentence.Announce {
			r.order = append(r.order, candidate{i, rank, weight})
		}
	}
	slices.SortStableFunc(r.order, func(a, b candidate) int { return cmp.Compare(b.rank, a.rank) })
	left := maxWorkText
	for _, c := range r.order {
		if left -= size(r.all[c.at].text); left >= 0 {
			r.weight += c.weight
		}
	}
	return r
}

// labelOf is what the built-in observer puts before all that was found out before a change, with the colon: "Before cart.go was changed:".
// Any other label of a title may be meant for the one sentence behind it.
func labelOf(title, text string) string {
	label := sentence.DateOf(title)
	if label != sentence.DateOf(text) {
		return ""
	}
	return label
}

// plainShare is the part of its weight that counts of a statement which only says what is so, or what was done. The code often says
// that too; it seldom says why something is so, what to beware of, or what was chosen.
const plainShare = 0.5

// answers reports whether what the row says begins with what was asked.
func (r *reading) answers() bool {
	return len(r.all) > 0 && r.all[0].leans || sentence.LeansBack(r.row.Title)
}

// weightiest are the sentences of a row that say most and were not said, whole, in their order, at most so many characters of them. What
// they say is noted. asked says that the prompt stands above, of which the first sentence may speak.
func (t *saidTexts) weightiest(r *reading, limit int, asked bool) string {
	all := r.all
	if asked && len(all) > 0 && all[0].leans {
		all = slices.Clone(all)
		all[0].leans = false
	}
	order := slices.DeleteFunc(slices.Clone(r.order), func(c candidate) bool { return t.hasWords(all[c.at].plain) })
	var kept []int
	for _, c := range order {
		group, ok := t.understood(all, c.at, kept)
		n := costOf(all, group, kept)
		if !ok && c.rank < math.MaxInt || n > limit {
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
		if head := all[i].head; !leans && head >= 0 && all[head].leans && !t.hasWords(all[head].plain) {
			next, leans = all[head].before, true
		}
		if t.hasWords(all[i].plain) || leans && next < 0 {
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
func quotes(title, text string) bool { return beginAs(sayings(title), plainWords(text)) }

// sayings are what a title, and what stands in it behind a label or behind what was asked, say as far as they go. What held before a change
// says so in a label of its own, before any other.
func sayings(title string) (all []plain) {
	title = strings.TrimPrefix(title, sentence.DateOf(title))
	_, labelled, _ := strings.Cut(title, ": ")
	_, answered, _ := strings.Cut(title, " — ")
	for _, s := range []string{title, labelled, answered} {
		p := plainWords(strings.TrimSuffix(s, ellipsis))
		p.words = strings.TrimSuffix(p.words, " ")
		all = append(all, p)
	}
	return all
}

// beginAs reports whether one of some sayings is only the beginning of a text.
func beginAs(sayings []plain, text plain) bool {
	return slices.ContainsFunc(sayings, func(s plain) bool {
		return s.count >= minSaidWords && strings.Contains(text.words, s.words) || s.count > 0 && strings.HasPrefix(text.words, s.words)
	})
}
