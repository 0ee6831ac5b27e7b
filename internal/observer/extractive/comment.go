package extractive

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/sentence"
)

const (
	// maxComments is how many comments that were written are told of one answer, the weightiest.
	maxComments = 3

	// maxScannedBytes is how much of what one call wrote is searched for comments, in bytes.
	maxScannedBytes = 16 << 10
)

// wroteIn and messageSays begin what is quoted of comments, documents and commits; summaries know it by these.
const (
	wroteIn     = "Wrote in "
	messageSays = "Commit message: "
)

// comment is what stands, or stood, in code about it, or in a document.
type comment struct {
	text   string
	weight int
	gone   bool // the agent took it out
}

// commentFacts quote the weightiest comments that were taken out, or were written and still stood when the answer ended. What stands in a
// document is not quoted where a call brought in what somebody else says: it may be theirs. What was taken out may be anybody's, as what
// commands print: it is in facts alone.
func (w *work) commentFacts(to *factList) {
	type quote struct {
		comment
		file *file
	}
	var all []quote
	moved := map[string]bool{} // what was taken out of one file and written into another, or into both, is nobody's new word
	for _, f := range w.files {
		for _, c := range f.comments {
			moved[c.text] = moved[c.text] || c.gone
		}
	}
	for _, f := range w.files {
		if isProse(f.path) && w.fetched {
			continue
		}
		for _, c := range f.comments {
			if c.gone && !isProse(f.path) || !c.gone && !moved[c.text] {
				all = append(all, quote{c, f})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b quote) int { return cmp.Compare(b.weight, a.weight) })
	for _, t := range all[:min(len(all), maxComments)] {
		if name := w.show(t.file.path); t.gone {
			to.quote(rankComment, "Took a comment out of "+name, ": “"+t.text+"”", "")
		} else {
			to.explain(rankComment, "", wroteIn+name+": “"+t.text+"”")
		}
	}
}

// comments are those that a call wrote or took out which say why, or of what one is to beware: a name alone does not make a comment
// worth telling, since comments name what stands below them.
func comments(file string, in []field) (all []comment) {
	if isTestFile(file) {
		return nil
	}
	if isProse(file) {
		return remarks(in)
	}
	for _, pair := range replacements(in) {
		for _, text := range commentsIn(pair.after, pair.before) {
			all = append(all, weighed(text, false)...)
		}
		for _, text := range commentsIn(pair.before, pair.after) {
			all = append(all, weighed(text, true)...)
		}
	}
	return all
}

// remarks are the passages that a call wrote into a document, or took out, which say why, or of what one is to beware; and all of them,
// where that is no longer than one.
func remarks(in []field) (all []comment) {
	for _, pair := range replacements(in) {
		all = append(all, remarksIn(pair.after, pair.before, false)...)
		all = append(all, remarksIn(pair.before, pair.after, true)...)
	}
	return all
}

// remarksIn are the remarks of a text that did not stand in another. Lists of packages and the like, as requirements.txt, are no notes: what is
// quoted whole ends as sentences do.
func remarksIn(after, before string, gone bool) (all []comment) {
	known := line(clean(before)) // wherever its lines break
	added := slices.DeleteFunc(blocks(unwrap(clean(after[:min(len(after), maxScannedBytes)]), false)), func(b block) bool {
		_, unmarked := cutMarker(line(b.raw))
		return b.shape != paragraph && b.shape != item || strings.Contains(known, unmarked)
	})
	var texts []string
	for _, b := range added {
		texts = append(texts, b.text)
	}
	if whole := line(strings.Join(texts, " ")); runes(whole) <= maxProblem && sentence.Telling(whole) && endsSentence(whole) {
		weight, _ := sentence.Weigh(whole, 0)
		return []comment{{whole, weight, gone}}
	}
	for _, text := range texts {
		all = append(all, weighed(text, gone)...)
	}
	return all
}

// endsSentence reports whether a text ends as sentences do, in whatever language.
func endsSentence(s string) bool {
	end, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(s, func(r rune) bool { return unicode.In(r, unicode.Pe, unicode.Pf, unicode.Quotation_Mark) }))
	return unicode.Is(unicode.STerm, end)
}

// weighed is a comment from its sentence on that is worth telling; none has none.
func weighed(text string, gone bool) []comment {
	for rest := text; rest != ""; {
		s, behind := sentence.First(rest)
		switch weight, p := sentence.Weigh(s, 0); p {
		case sentence.Cause, sentence.Gotcha, sentence.Decision:
			return []comment{{lead(rest, maxFact*2/3), weight, gone}}
		}
		rest = behind
	}
	return nil
}

// replacement is a text that a call put in the place of another.
type replacement struct {
	before, after string
	every         bool // wherever that stood
}

// replacements are the texts that a call wrote, by the fields of its input.
func replacements(in []field) []replacement {
	before, after := text(in, "old_string", "old_str"), text(in, "new_string", "new_str", "content", "file_text", "contents")
	var all []replacement
	if before != "" || after != "" {
		all = append(all, replacement{before, after, everywhere(in)})
	}
	for _, e := range elements(raw(in, "edits")) {
		f := fields(e)
		all = append(all, replacement{text(f, "old_string", "old_str"), text(f, "new_string", "new_str"), everywhere(f)})
	}
	return all
}

func everywhere(in []field) bool { return raw(in, "replace_all") == "true" }

// commentsIn are the comments of a text that did not stand in another, lines that follow each other as one.
func commentsIn(after, before string) (all []string) {
	open := false
	for l := range strings.Lines(after[:min(len(after), maxScannedBytes)]) {
		said, alone := commentOf(l)
		switch {
		case said == "" || strings.Contains(before, strings.TrimSpace(l)):
			open = false
		case open && alone:
			all[len(all)-1] += " " + said
		default:
			all, open = append(all, said), alone
		}
	}
	return all
}

// commentOf is what a line says as a comment, and whether it is one as a whole.
func commentOf(l string) (commentText string, wholeLine bool) {
	l = strings.TrimSpace(clean(l))
	for _, mark := range []string{"//", "#", "--", "/*", "*", ";;", "<!--"} {
		if rest, ok := strings.CutPrefix(l, mark); ok {
			rest = strings.Trim(strings.TrimLeft(rest, "/#!*-;"), " \t*/->")
			return line(rest), true
		}
	}
	for _, mark := range []string{" // ", " # "} {
		if _, rest, ok := strings.Cut(l, mark); ok {
			return line(rest), false
		}
	}
	return "", false
}

// isProse is for files that people write to be read.
func isProse(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".md", ".mdx", ".markdown", ".txt", ".rst", ".adoc", ".org":
		return true
	}
	return false
}
