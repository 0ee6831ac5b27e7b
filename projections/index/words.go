package index

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/cmemd/cmemd/internal/clip"
)

const (
	// maxWordBytes is the longest word in bytes; the rest of a longer one is cut, in documents and queries alike.
	maxWordBytes = 64

	// maxCompoundBytes is the longest identifier or path in bytes that is kept whole; longer ones live on in their parts.
	maxCompoundBytes = 120
)

// role says how a term came about.
type role uint8

const (
	roleWord     role = iota // stood alone in the text
	rolePart                 // a piece of an identifier or path
	roleCompound             // an identifier, file name, path or flag, whole
	roleStop                 // a word that nearly every text has
)

// stopWords are English words too common to search by, and what is left of contractions.
const stopWords = `a about after all also an and any are as at be because been before being but by can could did do does doing
for from had has have having he her here hers him his how i if in into is it its just me my no nor not of off on once only or
other our ours out over own same she should so some such than that the their theirs them then there these they this those
through to too under until up us very was we were what when where which while who whom why will with would you your yours
don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn let`

// maxStems is how many stems a scan remembers: a stem takes a microsecond to find, and most words are said again.
const maxStems = 4096

// analyzer turns text into terms. It is safe for concurrent use.
type analyzer struct {
	scans    sync.Pool           // *scan that nobody uses
	fold     map[rune]string     // a letter with a diacritic, or a ligature -> plain letters
	stops    map[string]struct{} // lower case, unstemmed
	bases    map[string]string   // an irregular or shortened form, lower case -> the word it stands for
	spelling map[string]string   // a stem -> the stem of the other spelling
}

func newAnalyzer() *analyzer {
	a := &analyzer{fold: foldTable(), stops: map[string]struct{}{}, bases: table(irregular, abbreviations), spelling: table(spelling)}
	for _, w := range strings.Fields(stopWords) {
		a.stops[w] = struct{}{}
	}
	return a
}

// scan is one pass over a text. The bytes given to emit are valid during the call only.
type scan struct {
	*analyzer
	query bool // of a query: pairs of a run without spaces, not also its single letters
	emit  func(term []byte, r role)
	low   []byte // the folded form at hand
	join  []byte // the compound at hand
	stem  []byte // the stem at hand
	stems map[string]string
	env   *snowballstem.Env
}

// scan returns one to be used by one goroutine until free.
func (a *analyzer) scan(query bool, emit func(term []byte, r role)) *scan {
	s, ok := a.scans.Get().(*scan)
	if !ok {
		s = &scan{analyzer: a, stems: map[string]string{}, env: snowballstem.NewEnv("")}
	}
	s.query, s.emit = query, emit
	return s
}

func (s *scan) free() {
	s.emit = nil
	s.scans.Put(s)
}

// terms gives every term of text to emit, in order.
func (a *analyzer) terms(text string, query bool, emit func(term []byte, r role)) {
	s := a.scan(query, emit)
	defer s.free()
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if !isWordRune(r) && !isConnector(r) {
			i += n
			continue
		}
		start := i
		for i < len(text) {
			if r, n = utf8.DecodeRuneInString(text[i:]); !isWordRune(r) && !isConnector(r) {
				break
			}
			i += n
		}
		i += s.chunk(text[start:i], text[i:], start > 0 && isApostrophe(text[:start]))
	}
}

// chunk handles a run of word runes and connectors; rest is the text behind it. It returns how many bytes of rest
// belong to it after all.
func (s *scan) chunk(chunk, rest string, afterApostrophe bool) int {
	body := strings.TrimFunc(chunk, isConnector)
	if body == "" || afterApostrophe && isContraction(body) {
		return 0
	}
	if strings.IndexFunc(body, isConnector) < 0 {
		s.run(body, roleWord)
		s.flag(chunk, body)
		if !strings.HasSuffix(chunk, body) {
			return 0
		}
		return s.symbolic(body, rest)
	}
	segments := strings.FieldsFunc(body, isSlash)
	for _, seg := range segments {
		if seg = strings.TrimFunc(seg, isConnector); strings.IndexFunc(seg, isConnector) >= 0 {
			s.compound("", seg)
		}
		for _, run := range strings.FieldsFunc(seg, isConnector) {
			if len(run) > 1 || len(seg) == 1 {
				s.run(run, rolePart)
			}
		}
	}
	if len(segments) > 1 {
		s.compound("", body)
	}
	s.flag(chunk, body)
	return 0
}

// flag emits --name whole, so that it is told from the word.
func (s *scan) flag(chunk, body string) {
	if strings.HasPrefix(chunk, "--") && strings.HasPrefix(chunk[2:], body) {
		s.compound("--", body)
	}
}

// symbolic emits c++, c# and their like whole, and says how many bytes of rest that took.
func (s *scan) symbolic(body, rest string) int {
	for _, suffix := range []string{"++", "#"} {
		if strings.HasPrefix(rest, suffix) && len(body) <= 2 {
			s.low = append(s.lower(s.low[:0], body), suffix...)
			s.emit(s.low, roleCompound)
			return len(suffix)
		}
	}
	return 0
}

// compound emits an identifier or path whole, without the marks that only styles of writing tell apart.
func (s *scan) compound(prefix, text string) {
	if len(text) > maxCompoundBytes {
		return
	}
	s.join = append(s.join[:0], prefix...)
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == '\\' {
			s.join = append(s.join, '/')
		} else if r != '_' && r != '-' {
			s.join = s.lower(s.join, text[i:i+n])
		}
		i += n
	}
	s.stemmed(s.join, roleCompound)
}

// run handles letters and digits without connectors.
func (s *scan) run(run string, r role) {
	for run != "" {
		n := spacelessPrefix(run)
		if n > 0 {
			s.pairs(run[:n])
			run = run[n:]
			continue
		}
		n = strings.IndexFunc(run, Spaceless)
		if n < 0 {
			n = len(run)
		}
		s.humps(run[:n], r)
		run = run[n:]
	}
}

// humps emits a word, and if it is in camel case its parts.
func (s *scan) humps(word string, r role) {
	word = clip.Head(word, maxWordBytes)
	first := hump(word)
	if first == len(word) {
		s.plain(word, r)
		return
	}
	s.low = s.lower(s.low[:0], word)
	s.stemmed(s.low, roleCompound)
	for word != "" {
		n := hump(word)
		if n > 1 {
			s.plain(word[:n], rolePart)
		}
		word = word[n:]
	}
}

func (s *scan) plain(word string, r role) {
	s.low = s.lower(s.low[:0], word)
	if _, ok := s.stops[string(s.low)]; ok {
		r = roleStop
	} else if base, ok := s.bases[string(s.low)]; ok {
		s.low = append(s.low[:0], base...)
	}
	withZ(s.low)
	s.stemmed(s.low, r)
}

// stemmed emits term, stemmed where it is plain ASCII letters.
func (s *scan) stemmed(term []byte, r role) {
	if len(term) == 0 {
		return
	}
	if len(term) < 3 || len(term) > maxWordBytes {
		s.emit(term, r)
		return
	}
	for _, c := range term {
		if c < 'a' || c > 'z' {
			s.emit(term, r)
			return
		}
	}
	stem, ok := s.stems[string(term)]
	if !ok {
		stem = s.cachedStem(string(term))
	}
	s.stem = append(s.stem[:0], stem...)
	s.emit(s.stem, r)
}

// cachedStem finds the stem of a word, and remembers it.
func (s *scan) cachedStem(word string) string {
	s.env.SetCurrent(word)
	english.Stem(s.env)
	stem := s.normalizeSpelling(s.env.Current())
	if len(s.stems) >= maxStems {
		clear(s.stems)
	}
	s.stems[word] = stem
	return stem
}

// pairs emits the overlapping pairs of a run of a script that writes no spaces, and in documents its single letters.
func (s *scan) pairs(run string) {
	if utf8.RuneCountInString(run) == 1 {
		s.emit([]byte(run), roleWord)
		return
	}
	for i := 0; i < len(run); {
		_, n := utf8.DecodeRuneInString(run[i:])
		if !s.query {
			s.emit([]byte(run[i:i+n]), rolePart)
		}
		if i+n < len(run) {
			_, m := utf8.DecodeRuneInString(run[i+n:])
			s.emit([]byte(run[i:i+n+m]), roleWord)
		}
		i += n
	}
}

// lower appends text in lower case, without diacritics.
func (s *scan) lower(dst []byte, text string) []byte {
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		if unicode.Is(unicode.Mn, r) || r == utf8.RuneError {
			continue
		}
		if r >= 0xFF01 && r <= 0xFF5E { // full width forms of ASCII
			r -= 0xFEE0
		}
		r = unicode.ToLower(r)
		if plain, ok := s.fold[r]; ok {
			dst = append(dst, plain...)
			continue
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// hump returns the length of the first part of a word in camel case: parse|Agent|XML, HTTP|Server.
func hump(word string) int {
	prev, n := utf8.DecodeRuneInString(word)
	for i := n; i < len(word); {
		r, n := utf8.DecodeRuneInString(word[i:])
		if unicode.IsUpper(r) {
			next, _ := utf8.DecodeRuneInString(word[i+n:])
			if !unicode.IsUpper(prev) || i+n < len(word) && unicode.IsLower(next) {
				return i
			}
		}
		prev = r
		i += n
	}
	return len(word)
}
