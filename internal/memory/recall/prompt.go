package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/index"
)

const (
	// DefaultScore is how much a row must have of a prompt to be told; see Overlap.
	DefaultScore = 3

	// maxBrief is how long what is told at a prompt or a file is at most, in characters, and maxBriefRows how many rows.
	maxBrief     = 2000
	maxBriefRows = 5

	// maxPromptRead is how much of a prompt is looked at, in bytes, and maxPromptWords how many of its words are searched:
	// a pasted text says less of what is wanted than the first sentences do.
	maxPromptRead  = 2 << 10
	maxPromptWords = 8

	// pairsOfWord is how many pairs of signs count for one of them: a sentence without blanks has as many as signs.
	pairsOfWord = 3

	// lookPromptHits is how many hits of a search are weighed, and mostPromptHits how many if these have much of the prompt
	// and may not be told.
	lookPromptHits = 20
	mostPromptHits = 100

	// mostPromptDocs is in how many documents the words are looked for, the rarest first: that bounds what a prompt costs,
	// and words that stand in more of them tell hardly anything.
	mostPromptDocs = 6000
)

// loadPrompt finds rows that have something of what the user said.
func (c *chooser) loadPrompt(ctx context.Context) error {
	words := tellingWords(c.ask.Prompt)
	if len(words) < 2 {
		return nil
	}
	q := Query{
		Text: searched(words), Limit: lookPromptHits, most: mostPromptDocs,
		Project: cmp.Or(c.ask.ProjectRoot, c.ask.Project), Of: Project{Name: c.ask.Project, Key: c.ask.ProjectKey},
		Kinds: []projections.Kind{projections.Observation, projections.Summary, projections.Memory},
	}
	c.score = map[events.ID]int{}
	for fit := 0; q.Offset < mostPromptHits; q.Offset, q.Limit = q.Offset+q.Limit, mostPromptHits-lookPromptHits {
		found, err := c.recall.Search(ctx, q)
		if err != nil {
			return err
		}
		rows, err := c.sound(ctx, found.Results)
		if err != nil {
			return err
		}
		more := false // rows that would be told, but for what they are
		for _, row := range rows {
			c.score[row.ID] = c.scoreOf(words, row)
			switch {
			case c.unfit(row) == "":
				fit++
			case c.good(row):
				more = true
			}
		}
		c.rows = append(c.rows, rows...)
		if !more || fit >= maxBriefRows || len(found.Results) < q.Limit {
			return nil
		}
	}
	return nil
}

// sound reads the rows of hits; of one that is flagged also the rows that it hides because they say nearly the same.
func (c *chooser) sound(ctx context.Context, hits []Item) ([]projections.Row, error) {
	ids := make([]events.ID, len(hits))
	for i, hit := range hits {
		ids[i] = hit.ID
	}
	rows, err := c.recall.views.Rows(ctx, ids...)
	if err != nil {
		return nil, err
	}
	var hidden []events.ID
	for i, row := range rows {
		if row.Flagged {
			hidden = append(hidden, hits[i].Similar...)
		}
	}
	behind, err := c.recall.views.Rows(ctx, hidden[:min(len(hidden), mostPromptHits)]...)
	return append(rows, behind...), err
}

// scoreOf is how much of a prompt's telling words a row has: enough, if it has every one of them.
func (c *chooser) scoreOf(words []string, row projections.Row) int {
	score, all := overlap(words, row)
	if all {
		score = max(score, c.wanted())
	}
	return score
}

// searched are the first of a prompt's telling words.
func searched(words []string) string {
	n := 0
	for room := maxPromptWords * pairsOfWord; n < len(words) && room > 0; n++ {
		room -= pairsOfWord
		if unspaced(words[n]) {
			room += pairsOfWord - 1
		}
	}
	return strings.Join(words[:n], " ")
}

// wanted is how much of a prompt a row must have.
func (c *chooser) wanted() int {
	if c.ask.Score <= 0 {
		return DefaultScore
	}
	return c.ask.Score
}

// good reports whether a row has enough of the prompt.
func (c *chooser) good(row projections.Row) bool { return c.score[row.ID] >= c.wanted() }

// briefParts are the parts of the weight of a row that is told at a prompt or a file.
func (c *chooser) briefParts(row projections.Row, age time.Duration) []Part {
	if c.ask.Source == SourceFile {
		return c.fileParts(row, age)
	}
	return []Part{{"words of the prompt", float64(c.score[row.ID])}, aged(age, memoryHalfLife)}
}

// Overlap says how much of a prompt a row has: one for every telling word that it shares, two for names of code and
// files. Words are compared by their first six letters, so that forms of one word meet; words that stand in every prompt
// tell nothing. Where no blanks are written, two signs that stand together count as a word.
func Overlap(prompt string, row projections.Row) int {
	score, _ := overlap(tellingWords(prompt), row)
	return score
}

// overlap is Overlap for the telling words of a prompt; all says that the row has every one of them.
func overlap(words []string, row projections.Row) (score int, all bool) {
	has := map[string]bool{}
	texts := slices.Concat(textsOf(row), row.Concepts, row.FilesModified, row.FilesRead, row.FilesUnverified)
	for _, text := range texts {
		for _, w := range splitWords(text) {
			has[stem(w)] = true
			for _, part := range strings.FieldsFunc(w, isJoint) {
				has[stem(part)] = true
			}
		}
	}
	all = true
	covered := 0 // of the next words, those that begin within one that counts
	for i, w := range words {
		if covered--; covered >= 0 && chained(words[i-1], w) {
			all = all && has[stem(w)]
			continue
		}
		covered = 0
		if !has[stem(w)] {
			all = false
			continue
		}
		score++
		if isName(w) {
			score++
		}
		if unspaced(w) {
			covered = utf8.RuneCountInString(w) - 1
		}
	}
	return score, all
}

// tellingWords are the words of a prompt that say what it is about, each once, names of code first.
func tellingWords(prompt string) []string {
	prompt = prompt[:min(len(prompt), maxPromptRead)]
	seen := map[string]bool{}
	var names, words []string
	for _, w := range splitWords(prompt) {
		key := stem(w)
		if seen[key] || !isTelling(w) {
			continue
		}
		seen[key] = true
		if isName(w) {
			names = append(names, w)
			continue
		}
		words = append(words, w)
	}
	return append(names, words...)
}

// isTelling reports whether a word is of use to find what a prompt is about.
func isTelling(w string) bool {
	if unspaced(w) {
		return !isCommonPiece(w)
	}
	return !isCommon(strings.ToLower(w)) && (isName(w) || utf8.RuneCountInString(w) >= 3)
}

// splitWords cuts text into words; names of code and paths stay whole, what is written without blanks is cut by pieces.
func splitWords(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !isJoint(r)
	})
	out := make([]string, 0, len(words))
	for _, w := range words {
		if strings.IndexFunc(w, index.Spaceless) >= 0 {
			out = append(out, pieces(w)...)
			continue
		}
		out = append(out, strings.TrimFunc(w, isJoint))
	}
	return slices.DeleteFunc(out, func(w string) bool { return w == "" })
}

// isJoint knows what stands within names and paths.
func isJoint(r rune) bool { return strings.ContainsRune("_-./", r) }

// isName reports whether a word is a name of code or a file rather than a word of a language.
func isName(w string) bool {
	letters, digits, joint, hump := false, false, false, false
	var before rune
	for _, r := range w {
		letters = letters || unicode.IsLetter(r)
		digits = digits || unicode.IsDigit(r)
		joint = joint || strings.ContainsRune("_./", r)
		hump = hump || unicode.IsUpper(r) && unicode.IsLower(before)
		before = r
	}
	return letters && (digits || joint || hump)
}

// stemLength is how many letters of a word count.
const stemLength = 6

func stem(w string) string {
	if isName(w) {
		return strings.ToLower(w)
	}
	r := []rune(strings.ToLower(w))
	if len(r) > 4 && r[len(r)-1] == 's' {
		r = r[:len(r)-1]
	}
	return string(r[:min(len(r), stemLength)])
}

// isCommon knows the words that stand in prompts whatever they are about.
func isCommon(w string) bool {
	switch w {
	case "a", "about", "add", "after", "again", "all", "also", "always", "an", "and", "any", "are", "as", "at", "be", "because",
		"been", "before", "but", "by", "can", "change", "check", "code", "could", "current", "did", "do", "does", "done", "each",
		"every", "explain", "file", "files", "find", "first", "fix", "for", "from", "function", "get", "give", "go", "good", "had",
		"has", "have", "help", "here", "how", "if", "implement", "in", "into", "is", "issue", "it", "its", "just", "know", "let",
		"like", "look", "make", "me", "more", "my", "need", "new", "next", "no", "not", "now", "of", "ok", "on", "one", "only", "or",
		"other", "our", "out", "please", "problem", "project", "really", "remove", "run", "same", "see", "should", "show", "so",
		"some", "still", "sure", "take", "tell", "test", "tests", "than", "thanks", "that", "the", "them", "then", "there", "these",
		"they", "thing", "things", "this", "to", "too", "try", "two", "up", "update", "us", "use", "using", "want", "was", "way",
		"we", "well", "were", "what", "when", "where", "which", "while", "who", "why", "will", "with", "without", "work", "working",
		"works", "would", "write", "yes", "you", "your":
		return true
	}
	return false
}
