package redact

// Keywords finds many words in a text in one pass, in any case of ASCII letters. It does not change and is safe for
// concurrent use.
type Keywords struct {
	class [256]uint8 // of a byte: 0 for one that stands in no word
	shift int        // a state's row of next has 1<<shift entries
	next  []uint32   // by row of a state, plus class of a byte: the row of the state that follows; with ending set if words end there
	ends  [][]int32  // by state: the words that end there, the longest first
}

// ending marks a row in whose state words end.
const ending = 1 << 31

// NewKeywords returns what finds words, with the automaton of Aho and Corasick. An empty word is never found.
func NewKeywords(words []string) *Keywords {
	k := &Keywords{}
	classes, letters := 1, 0
	for _, w := range words {
		letters += len(w)
		for i := range len(w) {
			if c := lower(w[i]); k.class[c] == 0 {
				k.class[c] = uint8(classes)
				classes++
			}
		}
	}
	for c := byte('A'); c <= 'Z'; c++ {
		k.class[c] = k.class[lower(c)]
	}
	for 1<<k.shift < classes {
		k.shift++
	}
	k.next = make([]uint32, 1<<k.shift, (letters+1)<<k.shift)
	k.ends = make([][]int32, 1, letters+1)
	for id, w := range words {
		k.insert(int32(id), w)
	}
	k.link()
	return k
}

// insert adds the states that spell a word.
func (k *Keywords) insert(id int32, word string) {
	row := uint32(0)
	for i := range len(word) {
		at := row + uint32(k.class[lower(word[i])])
		if k.next[at] == 0 {
			k.next[at] = uint32(len(k.next))
			k.next = k.next[:len(k.next)+1<<k.shift]
			k.ends = append(k.ends, nil)
		}
		row = k.next[at]
	}
	if state := row >> k.shift; state != 0 {
		k.ends[state] = append(k.ends[state], id)
	}
}

// link fills in where each state goes at a byte that spells no word on: to the longest beginning of a word that then ends
// the text. Shorter states come first, so that the one that a state falls back to is complete.
func (k *Keywords) link() {
	width := 1 << k.shift
	back := make([]uint32, len(k.ends))
	queue := make([]uint32, 0, len(k.ends))
	for row := uint32(0); ; row, queue = queue[0], queue[1:] {
		state := row >> k.shift
		fallen := back[state]
		if row != 0 {
			k.ends[state] = append(k.ends[state], k.ends[fallen>>k.shift]...)
		}
		for c := range width {
			child := &k.next[int(row)+c]
			switch {
			case *child != 0 && row != 0:
				back[*child>>k.shift] = k.next[int(fallen)+c]
				queue = append(queue, *child)
			case *child != 0:
				queue = append(queue, *child)
			case row != 0:
				*child = k.next[int(fallen)+c]
			}
		}
		if len(queue) == 0 {
			break
		}
	}
	for i, row := range k.next {
		if len(k.ends[row>>k.shift]) > 0 {
			k.next[i] = row | ending
		}
	}
}

// Each calls visit for each word that stands in s, by its index and where it ends, in the order of these ends, until visit
// returns false.
func (k *Keywords) Each(s string, visit func(word, end int) bool) {
	row := uint32(0)
	for i := range len(s) {
		row = k.next[row+uint32(k.class[s[i]])]
		if row < ending {
			continue
		}
		row &^= ending
		for _, w := range k.ends[row>>k.shift] {
			if !visit(int(w), i+1) {
				return
			}
		}
	}
}

// lower is c in lower case, if it is an ASCII letter.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
