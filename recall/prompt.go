package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
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

	// lookPromptHits is how many hits of a search are weighed.
	lookPromptHits = 20
)

// loadPrompt finds rows that have something of what the user said.
func (c *chooser) loadPrompt(ctx context.Context) error {
	words := tellingWords(c.ask.Prompt)
	if len(words) < 2 {
		return nil
	}
	found, err := c.recall.Search(ctx, Query{
		Text: strings.Join(words[:min(len(words), maxPromptWords)], " "), Limit: lookPromptHits,
		Project: cmp.Or(c.ask.ProjectRoot, c.ask.Project), Of: Project{Name: c.ask.Project, Key: c.ask.ProjectKey},
		Kinds: []projections.Kind{projections.Observation, projections.Summary, projections.Memory},
	})
	if err != nil {
		return err
	}
	ids := make([]events.ID, len(found.Results))
	for i, hit := range found.Results {
		ids[i] = hit.ID
	}
	if c.rows, err = c.recall.views.Rows(ctx, ids...); err != nil {
		return err
	}
	c.score = map[events.ID]int{}
	for _, row := range c.rows {
		score, all := overlap(words, row)
		if all {
			score = max(score, c.wanted())
		}
		c.score[row.ID] = score
	}
	return nil
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

// briefParts are the parts of the worth of a row that is told at a prompt or a file.
func (c *chooser) briefParts(row projections.Row, age time.Duration) []Part {
	if c.ask.Source == SourceFile {
		return c.fileParts(row, age)
	}
	return []Part{{"words of the prompt", float64(c.score[row.ID])}, aged(age, memoryHalfLife)}
}

// Overlap says how much of a prompt a row has: one for every telling word that it shares, two for names of code and
// files. Words are compared by their first six letters, so that forms of one word meet; words that stand in every prompt
// tell nothing.
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
	for _, w := range words {
		if !has[stem(w)] {
			all = false
			continue
		}
		score++
		if isName(w) {
			score++
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
		if seen[key] || isCommon(strings.ToLower(w)) || !isName(w) && len([]rune(w)) < 3 {
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

// splitWords cuts text into words; names of code and paths stay whole.
func splitWords(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !isJoint(r)
	})
	for i, w := range words {
		words[i] = strings.TrimFunc(w, isJoint)
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
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
