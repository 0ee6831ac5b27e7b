package index

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// isConnector reports what holds the parts of identifiers, paths and flags together.
func isConnector(r rune) bool {
	switch r {
	case '_', '-', '.', '/', '\\', '@':
		return true
	}
	return false
}

func isSlash(r rune) bool { return r == '/' || r == '\\' }

func isApostrophe(before string) bool {
	return strings.HasSuffix(before, "'") || strings.HasSuffix(before, "\u2019")
}

// isContraction reports the tails of it's, don't, we're, I've, we'll, he'd, I'm.
func isContraction(tail string) bool {
	switch strings.ToLower(tail) {
	case "s", "t", "re", "ve", "ll", "d", "m":
		return true
	}
	return false
}

// Spaceless reports letters of scripts that write no spaces between words, whose pairs the index holds.
func Spaceless(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー'
}

// spacelessPrefix is the length of the run of such letters at the start of s.
func spacelessPrefix(s string) int {
	for i, r := range s {
		if !Spaceless(r) {
			return i
		}
	}
	return len(s)
}

// foldTable maps lower-case letters with diacritics, and ligatures, to the letters that people type without them. It
// spares a dependency on the full tables of Unicode; decomposed text comes to the same, as combining marks are left out.
func foldTable() map[rune]string {
	table := map[rune]string{}
	for _, row := range strings.Fields(`
		a:àáâãäåāăąǎǟǡạảấầẩẫậắằẳẵặḁ ae:æǽ b:ḃḅḇ c:çćĉċč d:ďđḋḍḏḑð e:èéêëēĕėęěẹẻẽếềểễệ f:ḟ g:ĝğġģǧǵḡ h:ĥħḣḥḧḩ
		i:ìíîïĩīĭįıǐỉị ij:ĳ j:ĵǰ k:ķǩḱḳ l:ĺļľŀłḷḹ m:ḿṁṃ n:ñńņňŋṅṇ o:òóôõöøōŏőǒǫọỏốồổỗộớờởỡợơ oe:œ p:ṕṗ r:ŕŗřṙṛ
		s:śŝşšșṡṣ ss:ß t:ţťŧțṫṭ th:þ u:ùúûüũūŭůűųǔụủứừửữựư v:ṽṿ w:ŵẁẃẅẇ x:ẋẍ y:ýÿŷẏỳỵỷỹ z:źżžẑẓ fi:ﬁ fl:ﬂ
		и:й е:ё і:ї у:ў г:ґѓ к:ќ α:ά ε:έ η:ή ι:ίϊΐ ο:ό υ:ύϋΰ ω:ώ σ:ς`) {
		plain, letters, _ := strings.Cut(row, ":")
		for _, r := range letters {
			table[r] = plain
		}
	}
	return table
}
