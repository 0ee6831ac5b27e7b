package index

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/cmemd/cmemd/internal/clip"
)

// mention is a day, month or year that a question names; what is 0 is left open.
type mention struct {
	year, month, day int
}

// holds reports whether a time lies in what is mentioned, in UTC.
func (m mention) holds(at int64) bool {
	y, month, d := time.UnixMilli(at).UTC().Date()
	return (m.year == 0 || m.year == y) && (m.month == 0 || m.month == int(month)) && (m.day == 0 || m.day == d)
}

// maxMentions is how many dates of a question are looked at.
const maxMentions = 4

// mentions finds 2026-01-31, 2026-01, 31 January 2026, Jan 31st, January 2026, January and 2026.
func mentions(text string) (out []mention) {
	words := strings.FieldsFunc(clip.Head(text, maxText), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;:!?()\"'", r) })
	free := 0 // the first word that no mention has taken
	for i := 0; i < len(words) && len(out) < maxMentions; i++ {
		if m, ok := isoDate(strings.Trim(words[i], ".")); ok {
			out = append(out, m)
			continue
		}
		month, sure := monthOf(words[i])
		if month == 0 {
			continue
		}
		m, used := around(words[free:], i-free, month)
		if sure || m.day+m.year > 0 {
			out = append(out, m)
			i += used
			free = i + 1
		}
	}
	return out
}

// around reads the day before or behind a month's name and the year behind both, and says how many words behind it took.
func around(words []string, i, month int) (m mention, used int) {
	m.month = month
	if i > 0 {
		m.day = dayOf(words[i-1])
	}
	if i+1 < len(words) && m.day == 0 {
		if m.day = dayOf(words[i+1]); m.day > 0 {
			used++
		}
	}
	if i+1+used < len(words) {
		if y, ok := isoDate(strings.Trim(words[i+1+used], ".")); ok && y.month == 0 {
			m.year = y.year
			used++
		}
	}
	return m, used
}

// isoDate reads a year, a year and a month, or a whole date.
func isoDate(word string) (mention, bool) {
	for _, layout := range []string{time.DateOnly, "2006-01", "2006"} {
		at, err := time.Parse(layout, word)
		if err != nil || at.Year() < 1970 || at.Year() > 2199 {
			continue
		}
		m := mention{year: at.Year()}
		if len(layout) > 4 {
			m.month = int(at.Month())
		}
		if len(layout) > 7 {
			m.day = at.Day()
		}
		return m, true
	}
	return mention{}, false
}

// monthOf returns the number of an English month's name or its first three letters. It is sure of names in capitals
// that are no other words.
func monthOf(word string) (month int, sure bool) {
	word = strings.TrimSuffix(word, ".")
	for m := time.January; m <= time.December; m++ {
		name := m.String()
		if strings.EqualFold(word, name) || strings.EqualFold(word, name[:3]) {
			return int(m), unicode.IsUpper(rune(word[0])) && m != time.May && m != time.March
		}
	}
	return 0, false
}

// dayOf returns the day of a month that 3, 3rd or 03 names; 0 if it is none.
func dayOf(word string) int {
	if len(word) > 2 {
		word = strings.TrimRight(strings.ToLower(word), "sthndr")
	}
	d, err := strconv.Atoi(word)
	if err != nil || d < 1 || d > 31 {
		return 0
	}
	return d
}
