package extractive

import (
	"cmp"
	"math"
	"path"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"

	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/internal/sentence"
)

// titleOf is the first thing that a cleaned text says, fit for a title, or "". Code, tables, logs and quotes say
// nothing, and a line that only announces the next one gives way to it.
func titleOf(all []block) string {
	announced := ""
	for _, b := range all {
		if b.shape == code || b.shape == table || b.shape == quote {
			continue
		}
		s, announces := title(b.text)
		switch {
		case s == "" || !prosy(s):
		case announces && b.shape != heading:
			if announced == "" {
				announced = s
			}
		default:
			return s
		}
	}
	return announced
}

// reportTitle is titleOf for what an agent says: paragraphs first, because the headings and lists of a report are its
// frame.
func reportTitle(all []block) string {
	for _, b := range all {
		if b.shape == paragraph {
			if s, _ := title(b.text); s != "" && prosy(s) {
				return s
			}
		}
	}
	return titleOf(all)
}

// title is the first telling sentence of one line; a short one takes the next along where both fit. It also tells
// whether that sentence only announces what follows the line.
func title(s string) (text string, announces bool) {
	for s = tidy(s); s != ""; {
		var t string
		t, s = sentence.First(s)
		if !sentence.Telling(t) {
			continue
		}
		whole := t
		if next, _ := sentence.First(s); uniseg.GraphemeClusterCount(t) < maxTitle/2 && next != "" {
			if both := t + " " + next; uniseg.GraphemeClusterCount(both) <= maxTitle {
				t = both
			}
		}
		return trimTitle(cut(t, maxTitle)), strings.TrimSpace(s) == "" && (block{text: whole}).leads()
	}
	return "", false
}

// achieved is the sentence of a message that says best what came of the work: the one that names most, where the first that is long
// enough to stand alone has a lead, and one that says what was done. Announcements, questions and guesses are none; what speaks of the
// sentence before is one only where there is no other. An item of a list is told with the line that announces it, unless it says itself
// what was done; a line with the list that it announces, as far as that fits, and one that announces short code with that. Where
// something was changed, why or of what to be warned counts nothing. It also reports whether the sentence stands alone.
func achieved(message []block, changed bool) (said string, alone bool) {
	best, first, head, unnamed := math.MinInt, true, "", false
	for i, b := range message {
		if b.shape != item {
			head = b.announces()
			unnamed = head == "" && b.leads() && b.shape == paragraph // "Only:" says nothing without its list
		}
		if b.shape != paragraph && b.shape != item || !prosy(b.text) {
			continue
		}
		for rest := b.marked(); rest != ""; {
			var s string
			s, rest = sentence.First(rest)
			text := strings.TrimRight(sentence.Unplanned(sentence.Unannounced(s)), " :：")
			weight, ok := resultWeight(text, changed)
			done := changed && sentence.Holds(text, sentence.Done)
			leads := rest == "" && b.leads()
			if leads && i+1 < len(message) {
				switch next := message[i+1]; {
				case next.shape == code && ok:
					text, ok = withCode(text, next)
					leads = !ok
				case next.shape == item && b.shape == paragraph:
					stood := long(text)
					if text = withItems(text, message[i+1:]); done && !stood {
						weight, ok = resultWeight(text, changed)
						leads = !ok
					}
				}
			}
			switch {
			case !ok:
				continue
			case long(text) && first && (b.shape != item || done) && (weight > 0 || !leads || done):
				weight, first = weight+1+firstBonus, false
			case long(text):
				weight++
			}
			switch {
			case done:
				weight += doneBonus
			case b.shape == item && head != "":
				text = head + ": " + text
			case b.shape == item && unnamed:
				weight -= leanPenalty
			}
			if weight > best {
				best, alone = weight, weight > 0
				said = trimTitle(cut(plain(withNext(text, rest)), maxTitle))
			}
		}
	}
	return cmp.Or(said, titleOf(message)), alone
}

// announces is what b says last, of what follows it, or "": a line with a colon at its end, or a heading of more than one word.
func (b block) announces() string {
	head := announcement(plain(b.text))
	if !b.leads() || sentence.PurposeOf(head) == sentence.Announce || !strings.Contains(head, " ") && !sentence.Telling(head) {
		return ""
	}
	return head
}

// long tells whether a line is long enough to stand alone.
func long(s string) bool { return sentence.Letters(s) >= 2*sentence.MinLetters }

// withItems is a line with the items of the list that it announces, as many as a title takes whole, or the beginning of the first where
// the line is too short to stand alone.
func withItems(s string, behind []block) string {
	mark := ": "
	for _, b := range behind {
		more := s + mark + strings.TrimRight(b.marked(), " :：.")
		if b.shape != item || uniseg.GraphemeClusterCount(s) >= maxTitle || long(s) && uniseg.GraphemeClusterCount(plain(more)) > maxTitle {
			break
		}
		s, mark = more, "; "
	}
	return s
}

// withCode is a line with the code that it announces, where that is short. ok is false where it is not.
func withCode(s string, c block) (both string, ok bool) {
	code := line(c.text)
	if code == "" || uniseg.GraphemeClusterCount(s)+len(code) > 2*maxTitle {
		return s, false
	}
	return s + ": " + code, true
}

const (
	// firstBonus is by how much the first sentence of a message leads the others: agents say first what came of it, in the words of
	// the request.
	firstBonus = 3

	// doneBonus is by how much one leads that says what was done.
	doneBonus = 3

	// leanPenalty is by how much one lags behind that speaks of the sentence before it: more than anything else counts.
	leanPenalty = 16
)

// resultWeight is how much a sentence says of what came of some work.
func resultWeight(s string, changed bool) (weight int, ok bool) {
	weight, purpose := sentence.Weigh(s, 0)
	switch purpose {
	case sentence.Announce:
		return 0, false
	case sentence.Cause, sentence.Gotcha, sentence.Decision, sentence.Open:
		if changed {
			weight -= sentence.PurposeBonus
		}
	}
	if sentence.LeansBack(s) {
		weight -= leanPenalty
	}
	return weight, sentence.Telling(s) && !sentence.Holds(s, sentence.Hedge, sentence.Offer)
}

// withNext is a short sentence with the one behind it, where that tells something too and both fit into a title.
func withNext(s, rest string) string {
	next, _ := sentence.First(rest)
	both := s + " " + next
	if weight, _ := sentence.Weigh(next, 0); weight == 0 || uniseg.GraphemeClusterCount(s) >= maxTitle/2 || uniseg.GraphemeClusterCount(both) > maxTitle {
		return s
	}
	return both
}

// nameFiles names the first of paths under cwd with its folder, and a second one or the number of the others.
func nameFiles(cwd string, paths []string) string {
	short := func(p string) string {
		p = line(clean(evidence.Rel(cwd, p)))
		return strings.TrimPrefix(path.Join(path.Base(path.Dir(p)), path.Base(p)), "/")
	}
	switch first := short(paths[0]); len(paths) {
	case 1:
		return first
	case 2:
		return first + " and " + short(paths[1])
	default:
		return first + " and " + number.Plural(len(paths)-1, "more file")
	}
}

// maxInterjection is the length in runes of the longest word that, with a comma behind it, opens talk: "Thanks, ...".
const maxInterjection = 6

// chatty tells whether a line is talk by its form: it opens with one short word and a comma, or trails off.
func chatty(s string) bool {
	first, _, ok := strings.Cut(s, ",")
	if ok && runes(first) <= maxInterjection && strings.IndexFunc(first, func(r rune) bool { return !unicode.IsLetter(r) }) < 0 {
		return true
	}
	for w := range strings.FieldsSeq(s) {
		if stem, ok := strings.CutSuffix(w, "..."); ok && stem != "" && isLetter(stem[len(stem)-1]) {
			return true
		}
	}
	return false
}

// questions tells whether asked, the title of request, is or holds a question, of which the end may be cut off.
func questions(request []block, asked string) bool {
	if strings.HasSuffix(asked, "…") {
		for _, b := range request {
			if whole := tidy(b.text); strings.Contains(whole, strings.TrimSuffix(asked, "…")) {
				_, whole, _ = strings.Cut(whole, strings.TrimSuffix(asked, "…"))
				rest, _ := sentence.First(whole)
				asked += rest
				break
			}
		}
	}
	for w := range strings.FieldsSeq(asked) {
		if isQuestion(w) {
			return true
		}
	}
	return false
}

// isQuestion reports whether a text ends with a question mark, within quotes, brackets or before a colon too.
func isQuestion(s string) bool {
	s = strings.TrimRight(s, " \"')”’*:：…")
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, "؟")
}

// tidy takes placeholders of attachments out of s, and addresses off its ends, and shortens long paths to their last name. An address
// within it is part of what it says.
func tidy(s string) string {
	words := strings.Fields(unbracket(s))
	for len(words) > 0 && strings.Contains(words[0], "://") {
		words = words[1:]
	}
	for len(words) > 0 && strings.Contains(words[len(words)-1], "://") {
		words = words[:len(words)-1]
	}
	for i, w := range words {
		words[i] = shortPath(w)
	}
	return strings.Join(words, " ")
}

// unbracket takes out what a harness puts for things it cannot show: "[Image #1]", "[Pasted text #2 +30 lines]".
func unbracket(s string) string {
	var b strings.Builder
	for {
		open := strings.IndexByte(s, '[')
		end := strings.IndexByte(s, ']')
		if open < 0 || end < 0 {
			b.WriteString(s)
			return b.String()
		}
		if open > end || !isPlaceholder(s[open+1:end]) {
			b.WriteString(s[:end+1])
		} else {
			b.WriteString(s[:open])
		}
		s = s[end+1:]
	}
}

// isPlaceholder is for a word or two, and a number behind a '#'.
func isPlaceholder(s string) bool {
	name, number, ok := strings.Cut(s, " #")
	return ok && len(name) <= 16 && number != "" && isDigit(number[0]) && strings.IndexFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && r != ' '
	}) < 0
}

// shortPath turns a path of a file system's root or home into its last name, and leaves other words alone.
func shortPath(w string) string {
	core := strings.TrimRight(w, ".,;:!?)]}\"'”")
	start := strings.TrimLeft(core, "([{\"'“@")
	if len(start) < 2 || start[0] != '/' && !strings.HasPrefix(start, "~/") && !strings.Contains(start, `:\`) {
		return w
	}
	base := path.Base(strings.ReplaceAll(strings.TrimRight(start, `/\`), `\`, "/"))
	_, behind, _ := strings.Cut(base, ":")
	isRoute := strings.ContainsAny(base, "{}<>*") || strings.Trim(behind, "0123456789:-") != "" // behind a file stands a line
	if strings.Count(start, "/")+strings.Count(start, `\`) < 2 || base == "." || base == "/" || isRoute {
		return w
	}
	return core[:len(core)-len(start)] + base + w[len(core):]
}

// trimTitle takes marks off the ends of a title, and leaves those that a name begins with: ".env", "--force", "#12".
func trimTitle(s string) string {
	s = strings.TrimRight(s, " -–—>*#:;,")
	for s != "" {
		word, rest, _ := strings.Cut(s, " ")
		if strings.Trim(word, "-–—>*#:;,.") != "" {
			break
		}
		s = rest
	}
	return strings.TrimLeft(strings.TrimPrefix(s, "**"), ":;,–—")
}
