package observer

// blocks are the closed roots of an output that stand for themselves, in the order in which they close.
type blocks struct {
	observations, summaries, skips []block
	triedSummary                   bool // an opening summary tag stood for itself, closed or not

	tags []tag
	ends []int // see fieldEnds
}

// block is one closed root. A self-closing one has no inside.
type block struct {
	open, close int // indexes of its tags
	fields      []field
}

// field is one closed field.
type field struct {
	word        word
	open, close int // indexes of its tags
}

// frame is a root that is open.
type frame struct {
	root                           word
	open                           int
	fields                         int // how many stood open before it, as all below
	observations, summaries, skips int
	triedSummary                   bool
}

// scan walks over the tags once. Fields wait in one list for the root that closes around them, so that a root tag
// that never closes takes nothing from the root it stands in.
type scan struct {
	blocks
	open   []frame
	opened [wordSkip + 1]int // frames by root
	last   [wordSkip + 1]int // index of the last closing tag by root
	fields []field
}

// findBlocks finds the roots of text:
//   - a closing tag closes the nearest open root of its name; roots that opened inside it and are open still never
//     opened;
//   - what is in a closed field, a CDATA section or a comment opens and closes nothing;
//   - a root inside a closed root of another name is part of it and not a root of its own.
func findBlocks(text string) blocks {
	tags := readTags(text)
	s := scan{blocks: blocks{tags: tags, ends: fieldEnds(tags)}, open: make([]frame, 0, 4), fields: make([]field, 0, 16)} // on the stack
	for i, t := range tags {
		if t.word.isRoot() && t.shape == closing {
			s.last[t.word] = i
		}
	}
	for i := 0; i < len(tags); i++ {
		switch t := tags[i]; {
		case t.word == wordComment:
			i = s.skipComment(i)
		case t.word.isRoot():
			s.root(i)
		case t.word.isField() && len(s.open) > 0 && s.ends[i] >= 0:
			s.fields = append(s.fields, field{word: t.word, open: i, close: s.ends[i]})
			i = s.ends[i]
		}
	}
	return s.blocks
}

// skipComment returns the index of the last tag inside the comment at i.
func (b *blocks) skipComment(i int) int {
	for end := b.tags[i].end; i+1 < len(b.tags) && b.tags[i+1].start < end; {
		i++
	}
	return i
}

func (s *scan) root(i int) {
	t := s.tags[i]
	if t.word == wordSummary && t.shape != closing {
		s.triedSummary = true
	}
	switch t.shape {
	case opening:
		if len(s.open) == 0 || s.last[t.word] > i { // else it cannot close, and the roots around it do not notice
			s.push(i)
		}
	case empty:
		s.add(t.word, block{open: i, close: i})
	case closing:
		if s.opened[t.word] > 0 {
			s.close(i)
		}
	}
}

func (s *scan) push(i int) {
	root := s.tags[i].word
	s.open = append(s.open, frame{
		root: root, open: i, fields: len(s.fields), triedSummary: s.triedSummary,
		observations: len(s.observations), summaries: len(s.summaries), skips: len(s.skips),
	})
	s.opened[root]++
}

// close closes the nearest open root of the name of the tag at i.
func (s *scan) close(i int) {
	var f frame
	for f.root != s.tags[i].word {
		f = s.open[len(s.open)-1]
		s.open = s.open[:len(s.open)-1]
		s.opened[f.root]--
	}
	b := block{open: f.open, close: i, fields: append([]field(nil), s.fields[f.fields:]...)}
	s.fields = s.fields[:f.fields]
	if f.root != wordObservation {
		s.observations = s.observations[:f.observations]
	}
	if f.root != wordSummary {
		s.summaries = s.summaries[:f.summaries]
		s.triedSummary = f.triedSummary
	}
	if f.root != wordSkip {
		s.skips = s.skips[:f.skips]
	}
	s.add(f.root, b)
}

func (s *scan) add(root word, b block) {
	switch root {
	case wordObservation:
		s.observations = append(s.observations, b)
	case wordSummary:
		s.summaries = append(s.summaries, b)
	case wordSkip:
		s.skips = append(s.skips, b)
	}
}

// fieldEnds gives for every tag that opens a field or an item the index of the tag that closes it, itself if it is
// self-closing, and -1 if it is not closed or opens nothing. A field ends at the first closing tag of its name. If a
// root tag stands before that one, it ends where its tags balance: so an example quoted whole stays inside, and a
// field left open does not run into the next block's field of the same name.
func fieldEnds(tags []tag) []int {
	ends := balanced(tags)
	var next [words]int // index of the next closing tag by word, plus one
	root := len(tags)   // index of the next root tag
	for i := len(tags) - 1; i >= 0; i-- {
		switch t := tags[i]; {
		case t.word.isRoot():
			root = i
		case t.shape == closing:
			next[t.word] = i + 1
		case t.shape == opening && next[t.word] > 0 && next[t.word]-1 < root:
			ends[i] = next[t.word] - 1
		}
	}
	return ends
}

// balanced pairs every closing tag with the nearest opening tag of its name that has no pair yet.
func balanced(tags []tag) []int {
	ends := make([]int, len(tags))
	var last [words]int // index of the last opening tag without a pair by word, plus one
	for i, t := range tags {
		switch {
		case t.shape == opening:
			ends[i] = last[t.word] // until it has a pair: the one before it
			last[t.word] = i + 1
		case t.shape == closing && last[t.word] > 0:
			open := last[t.word] - 1
			last[t.word], ends[open], ends[i] = ends[open], i, -1
		case t.shape == empty:
			ends[i] = i
		default:
			ends[i] = -1
		}
	}
	for _, open := range last {
		for open > 0 {
			ends[open-1], open = -1, ends[open-1]
		}
	}
	return ends
}
