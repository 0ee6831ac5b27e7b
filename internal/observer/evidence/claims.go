package evidence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxClaims is how many hashes are taken from one text: a text with more is a listing, and each costs a question.
	maxClaims = 50
	// maxClaimText is how much of a text is looked at, in bytes: outputs are far below it.
	maxClaimText = 1 << 20
	// maxWordsBeforeHash is how many words before a hash may make it a commit.
	maxWordsBeforeHash = 6
	// bytesAroundHash is how many bytes on either side of a hash are looked at, so that time stays linear.
	bytesAroundHash = 256
)

// Claims returns the commit hashes that text claims: tokens of 7 to 40 hex digits in the context of a commit. A
// context is a word for a commit near by, or a form that only commits are written in: a..b, @hash, hash^, (hash),
// a line of git's log, a link to a commit, "in hash". Colours, UUIDs, addresses, digests, versions and build numbers
// are no commits; tokens of digits alone need the word right before them. The hashes stand as written, each once, in
// order, at most 50.
func Claims(text string) []string {
	text = text[:min(len(text), maxClaimText)]
	var out []string
	seen := map[string]bool{}
	last := token{}
	for tok, ok := nextToken(text, 0); ok && len(out) < maxClaims; tok, ok = nextToken(text, tok.end) {
		if !tok.isHashLike() {
			continue
		}
		hash, claimed := tok.claimedHash(last)
		if !claimed {
			continue
		}
		last = tok
		if key := strings.ToLower(hash); !seen[key] {
			seen[key] = true
			out = append(out, hash)
		}
	}
	return out
}

// token is a run of ASCII letters, digits and underscores.
type token struct {
	text       string // the whole text
	start, end int
}

func nextToken(text string, from int) (token, bool) {
	for from < len(text) && !isWordByte(text[from]) {
		from++
	}
	end := from
	for end < len(text) && isWordByte(text[end]) {
		end++
	}
	return token{text, from, end}, end > from
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

func (t token) word() string { return t.text[t.start:t.end] }

// before and after are the text around the token, as much of it as may matter.
func (t token) before() string { return t.text[max(0, t.start-bytesAroundHash):t.start] }
func (t token) after() string  { return t.text[t.end:min(len(t.text), t.end+bytesAroundHash)] }

// hash is the token's hash: all of it, or what follows the g of "git describe".
func (t token) hash() string {
	if w := t.word(); len(w) > 7 && w[0] == 'g' && strings.HasSuffix(t.before(), "-") {
		return w[1:]
	}
	return t.word()
}

// isHashLike reports whether the token may be a hash at all, by its letters and length.
func (t token) isHashLike() bool {
	h := t.hash()
	if len(h) < 7 || len(h) > 40 {
		return false
	}
	return isLowerHex(h) || strings.Trim(h, "0123456789ABCDEF") == ""
}

// hasLettersAndDigits reports whether the hash has both digits and letters, as 19 of 20 short hashes do: words and numbers do not.
func (t token) hasLettersAndDigits() bool {
	h := t.hash()
	return strings.Trim(h, "0123456789") != "" && strings.ContainsAny(h, "0123456789")
}

// cannotBeWord reports whether a hash of digits alone, or of letters alone, cannot be a word of a sentence.
func (t token) cannotBeWord() bool {
	return len(t.word()) > 7 || strings.Trim(t.word(), "0123456789") == "" || lastByte(t.before()) == '`'
}

// claimedHash decides about a token that is hex. last is the claim before it in the text.
func (t token) claimedHash(previous token) (hash string, ok bool) {
	if t.inDescribeForm() {
		return t.hash(), true
	}
	if t.word() != t.hash() || t.isEmbedded() || t.inIndexLine() || t.inHexDump() {
		return "", false
	}
	if t.inCommitLink() || t.isRangeEnd() || t.followsClaim(previous) {
		return t.word(), true
	}
	switch kind, distance := t.context(); kind {
	case commitWord:
		return t.word(), t.hasLettersAndDigits() || distance <= 1 && t.cannotBeWord()
	case otherWord:
		return "", false
	}
	return t.word(), t.hasLettersAndDigits() && (t.inCommitForm() || t.followsDelivery() || t.long())
}

// followsDelivery reports whether what was shipped, released, tagged or changed is told by a short hash: "tagged v1.2 at 1a2b3c4".
func (t token) followsDelivery() bool {
	const near = 4 // words
	words := strings.Fields(t.before())
	for _, w := range slices.Backward(words[max(0, len(words)-near):]) {
		if strings.HasSuffix(w, ".") {
			return false // of the sentence before
		}
		if isDelivery(strings.ToLower(strings.Trim(w, "`*:,("))) {
			return t.short()
		}
	}
	return false
}

// long reports whether the token alone, whatever is said around it, looks like a commit: it has a length at which git writes
// hashes (12 in large repositories, hardly ever 14, 40 whole) and little else is written. It may not begin its line, as an id in
// a listing and a checksum do.
func (t token) long() bool {
	if n := len(t.word()); n != 40 && (n < 12 || n > 14) {
		return false
	}
	b := t.before()
	return strings.Trim(b[strings.LastIndexByte(b, '\n')+1:], " \t*-|`\"'") != ""
}

// inDescribeForm is the form of git describe: v1.2-4-g1a2b3c4.
func (t token) inDescribeForm() bool {
	rest, ok := strings.CutSuffix(t.before(), "-")
	digits := strings.TrimRight(rest, "0123456789")
	return ok && t.word()[0] == 'g' && len(digits) < len(rest) && strings.HasSuffix(digits, "-") && t.hasLettersAndDigits()
}

// isEmbedded reports whether the token is a part of something longer: a colour, a UUID, a path, a file name, a version, a
// setting. Ranges, links and the mark @ are not glue.
func (t token) isEmbedded() bool {
	b, a := t.before(), t.after()
	switch lastByte(b) {
	case '#', '-', '$', '%', '&', '\\', '+':
		return true
	case '/':
		return !t.inCommitLink()
	case '.':
		return !strings.HasSuffix(b, "..")
	case '=', ':':
		return !t.inCommitLink() && !t.named(lastWord(b[:len(b)-1]))
	case '@':
		return strings.Contains(lastField(b), "/")
	}
	switch {
	case a == "":
		return false
	case a[0] == '-' || a[0] == '.' && !strings.HasPrefix(a, ".."):
		return len(a) > 1 && isWordByte(a[1])
	case a[0] == '@' || a[0] == '=' || a[0] == '%' || a[0] == '\\':
		return len(a) > 1 && isWordByte(a[1])
	case a[0] == '/':
		return !t.inCommitLink()
	}
	return false
}

// named reports whether w, with a sign behind it, is a name that commits are assigned to.
func (t token) named(w string) bool {
	return isCommitWord(w) || w == "hash" && t.hasLettersAndDigits() && t.long()
}

// inCommitLink reports whether the token is the commit of a link such as https://host/owner/name/commit/1a2b3c4.
func (t token) inCommitLink() bool {
	links := []string{"/commit/", "/commits/", "/compare/", "/+/", "/commit/?id="}
	return slices.ContainsFunc(links, func(part string) bool { return strings.HasSuffix(t.before(), part) })
}

// isRangeEnd reports whether the token is an end of a range between two revisions.
func (t token) isRangeEnd() bool {
	if !t.hasLettersAndDigits() {
		return false
	}
	if rest, ok := strings.CutPrefix(t.after(), ".."); ok {
		other, ok := nextToken(strings.TrimPrefix(rest, "."), 0)
		return ok && other.start == 0 && (other.isHashLike() || other.word() == "HEAD" || other.word() == "main" || other.word() == "master")
	}
	b := t.before()
	if !strings.HasSuffix(b, "..") {
		return false
	}
	b = strings.TrimRight(b, ".")
	start := len(b)
	for start > 0 && isWordByte(b[start-1]) {
		start--
	}
	return start < len(b)
}

// inIndexLine reports whether the token stands in the index line of a diff, whose hashes are of files.
func (t token) inIndexLine() bool {
	b := t.before()
	line := strings.TrimLeft(b[strings.LastIndexByte(b, '\n')+1:], " \t>")
	return strings.HasPrefix(line, "index ") && (strings.HasPrefix(t.after(), "..") || strings.HasSuffix(b, ".."))
}

// inHexDump reports whether the token stands in a line of a hex dump, which begins with an offset.
func (t token) inHexDump() bool {
	b := t.before()
	line := strings.TrimLeft(t.text[t.start-len(b)+strings.LastIndexByte(b, '\n')+1:], " \t")
	return strings.HasPrefix(line, "0000")
}

// inCommitReport reports whether the token stands in git's own line about a commit that it made: "[main 1a2b3c4] Subject".
func (t token) inCommitReport() bool {
	b := t.before()
	head, ok := strings.CutSuffix(b[strings.LastIndexByte(b, '\n')+1:], " ")
	return ok && strings.HasPrefix(strings.TrimLeft(head, " \t>`"), "[") && strings.HasPrefix(t.after(), "] ") && !strings.Contains(head, "]")
}

// followsClaim reports whether only a comma, a slash or a short word lies between the claim before and this one.
func (t token) followsClaim(last token) bool {
	if last.end == 0 || t.start-last.end > 12 || !t.hasLettersAndDigits() {
		return false
	}
	between := strings.Trim(t.text[last.end:t.start], " \t`\"'")
	switch between {
	case ",", "to", "and", "&", ", and", "or", "/", "->", "→", "und", "et", "y", "e", "и", "、", "和", ", ":
		return true
	}
	return strings.Trim(between, "`,\"' ") == "" && strings.Contains(between, ",")
}

// inCommitForm reports whether a token of letters and digits stands in a form that commits are written in, without a word for it.
func (t token) inCommitForm() bool {
	b, a := t.before(), t.after()
	switch {
	case lastByte(b) == '@':
		return true
	case strings.HasPrefix(a, "^") || strings.HasPrefix(a, "~"):
		return true
	case t.short() && (t.inParentheses() || t.inLogLine() || t.inCommitReport()):
		return true
	}
	return t.short() && isPreposition(lastWord(b))
}

// short reports whether the hash has a length in which git writes hashes: abbreviated, or whole.
func (t token) short() bool { return len(t.word()) <= 12 || len(t.word()) == 40 }

// inParentheses is a hash alone in parentheses, maybe quoted as code.
func (t token) inParentheses() bool {
	b, a := strings.TrimRight(t.before(), "`"), strings.TrimLeft(t.after(), "`")
	return lastByte(b) == '(' && strings.HasPrefix(a, ")")
}

// inLogLine is a line of "git log --oneline": the hash first, then a subject.
func (t token) inLogLine() bool {
	b := t.before()
	line := strings.Trim(b[strings.LastIndexByte(b, '\n')+1:], " \t*-|\\/•`")
	rest, ok := strings.CutPrefix(strings.TrimLeft(t.after(), "`:"), " ")
	r, _ := utf8.DecodeRuneInString(rest)
	return line == "" && ok && (unicode.IsLetter(r) || r == '(') && len(t.word()) != 12
}

func lastByte(s string) byte {
	if s == "" {
		return 0
	}
	return s[len(s)-1]
}

// lastField is what stands at the end of s since the last white space.
func lastField(s string) string {
	return s[strings.LastIndexAny(s, " \t\n(")+1:]
}

// context looks at the words before the token, the nearest first, within its sentence, and then at the one behind it.
// distance is how many words away the word for a commit stands; 1 is next to it.
func (t token) context() (what wordKind, distance int) {
	rest, doubt := t.before(), 0
	for i := 1; i <= maxWordsBeforeHash; i++ {
		var w string
		if w, rest = wordBefore(rest); w == "" {
			break
		}
		switch {
		case isCommitWord(w) && (doubt == 0 || i <= 3):
			if w == "git" && i <= 2 { // git show, git revert, ...
				return commitWord, 1
			}
			return commitWord, i - doubt
		case i <= reachOther && isOtherWord(w):
			return otherWord, i
		case isDoubtful(w):
			doubt = 1
		}
	}
	if doubt > 0 {
		return otherWord, 1
	}
	switch w := wordAfter(t.after()); {
	case isCommitWord(w):
		return commitWord, 2
	case isOtherWord(w):
		return otherWord, 1
	}
	return noWord, 0
}
