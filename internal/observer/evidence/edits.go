package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/sentence"
)

const (
	// maxEdited is how much of a text that a call wrote or replaced is read, in bytes: longer ones are data.
	maxEdited = 32 << 10
	// minMark is the shortest word that is followed, in bytes: shorter ones stand anywhere.
	minMark = 3
)

// rewrite is what a call did to the text of one file, as far as the call says.
type rewrite struct {
	file  string
	whole bool           // what the file held before is gone
	every bool           // each place was replaced, not one alone
	words map[string]int // how many more of a word or a line stand there than before; a line begins with "\n"
}

// rewrites are what the call wrote into files, in its order; none of one that failed, or whose input names no text.
func (c *Call) rewrites() (all []rewrite) {
	if c.kind != Edit || c.Failed || c.out.isTrue("iserror") || c.in.isTrue("dryrun") {
		return nil
	}
	if patches := c.patches(); len(patches) > 0 {
		for _, p := range patches {
			all = append(all, c.patchRewrites(p)...)
		}
		return all
	}
	if len(c.modified) != 1 {
		return nil
	}
	for _, v := range append([]value{c.in}, c.in.get("edits", "replacements").list...) {
		before, after := v.get("oldstring", "oldstr", "oldtext"), v.get("newstring", "newstr", "newtext", "content", "filetext", "contents")
		if !before.text && !after.text {
			continue
		}
		w := rewrite{file: c.modified[0], every: v.isTrue("replaceall"), words: map[string]int{}}
		w.whole = !before.text && !c.named("append", "insert")
		w.count(before.String(), -1)
		w.count(after.String(), 1)
		all = append(all, w)
	}
	return all
}

// Rewritten tells of each file that the call changed, as far as it says, how many more of each word stand there than before; of a word
// that stands in what was written as often as in what was replaced, none more. The caller owns the maps.
func (c *Call) Rewritten() map[string]map[string]int {
	all := map[string]map[string]int{}
	for _, w := range c.rewrites() {
		if all[w.file] == nil {
			all[w.file] = map[string]int{}
		}
		for word, n := range w.words {
			all[w.file][word] += n
		}
	}
	return all
}

// patchRewrites are those of one patch: its lines that begin with a plus or a minus, by the file whose header they stand below.
func (c *Call) patchRewrites(patch string) (all []rewrite) {
	var at *rewrite
	begin := func(file string, whole bool) {
		if p, ok := cleanPath(join(c.folderOf(), c.patchDir), file); ok && len(all) < maxFiles {
			all = append(all, rewrite{file: p, whole: whole, words: map[string]int{}})
			at = &all[len(all)-1]
		}
	}
	before := ""
	for l := range strings.Lines(patch[:min(len(patch), 8*maxEdited)]) {
		l = strings.TrimRight(l, "\r\n")
		file, header := patchHeader(l), strings.HasPrefix(l, "--- ") || strings.HasPrefix(l, "*** ")
		switch after, sides := strings.CutPrefix(l, "+++ "); {
		case file != "" && !strings.HasPrefix(l, "rename"):
			begin(file, strings.HasPrefix(l, "*** Delete") || strings.HasPrefix(l, "*** Add"))
		case sides && before != "":
			for _, f := range diffSides(before, after) {
				begin(f, diffName(after, "b/") == "/dev/null")
			}
		case at == nil || header:
		case strings.HasPrefix(l, "+"):
			at.count(l[1:], 1)
		case strings.HasPrefix(l, "-"):
			at.count(l[1:], -1)
		}
		before, _ = strings.CutPrefix(l, "--- ")
		if before == l {
			before = ""
		}
	}
	return all
}

// count adds n for each word and each line of a text that says something.
func (w *rewrite) count(text string, n int) {
	text = text[:min(len(text), maxEdited)]
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); sentence.Letters(l) >= minMark {
			w.words["\n"+l] += n
		}
	}
	for word := range words(text) {
		w.words[word] += n
	}
}

// words yields the words of a text as programs write them, those that are joined by dots or slashes also apart.
func words(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
			return r != '_' && r != '.' && r != '/' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}) {
			word = strings.Trim(word, "./-")
			if len(word) >= minMark && !yield(word) {
				return
			}
			if !strings.ContainsAny(word, "./") {
				continue
			}
			for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return r == '.' || r == '/' }) {
				if len(part) >= minMark && !yield(part) {
					return
				}
			}
		}
	}
}

// Marks are the words by which a text speaks of code: what names something in a program by its form (sentence.IsName), and what alone
// stands between backticks. Each once, in order.
func Marks(text string) (marks []string) {
	seen := map[string]bool{}
	code := false
	for span := range strings.SplitSeq(text, "`") {
		alone := code && !strings.ContainsFunc(strings.TrimSpace(span), unicode.IsSpace)
		for field := range strings.FieldsSeq(span) {
			if !alone && !sentence.IsName(strings.Trim(field, ".,;:!?()[]{}\"'“”’…*")) {
				continue
			}
			for word := range words(field) {
				if r, _ := utf8.DecodeRuneInString(word); !seen[word] && !unicode.IsDigit(r) {
					seen[word] = true
					marks = append(marks, word)
				}
				break // the whole, not its parts
			}
		}
		code = !code
	}
	return marks
}
