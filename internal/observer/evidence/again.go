package evidence

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/sentence"
)

// Finding is one observation of a session, as NamedAgain reads it.
type Finding struct {
	Prompt int // number of the prompt that it is about; 0: not known
	Title  string
	Text   string // what it says at length
	State  bool   // it is of the type that says what is so
}

// NamedAgain says of each of a session's observations whether it only says how something was, and what was done or decided after later prompts
// names again all that its title names: what the session made of it stands there. What says why, of what to beware or what was chosen is
// none of these. Its cost is linear in the texts.
func NamedAgain(all []Finding) []bool {
	order := make([]int, 0, len(all))
	for i, f := range all {
		if f.Prompt > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b].Prompt, all[a].Prompt) })
	again := make([]bool, len(all))
	later := map[string]bool{} // what the observations of later prompts name
	var named []string         // what those of the prompt at hand name
	for n, i := range order {
		f := all[i]
		if n > 0 && f.Prompt != all[order[n-1]].Prompt {
			for _, name := range named {
				later[name] = true
			}
			named = nil
		}
		about := Marks(f.Title)
		anew := slices.ContainsFunc(about, func(name string) bool { return !later[name] })
		again[i] = f.State && len(about) > 0 && !anew && f.isPlain()
		if !f.State {
			named = append(named, Marks(f.Title+"\n"+f.Text)...)
		}
	}
	return again
}

// isPlain reports whether no sentence that holds a title, or its beginning where it is cut, has a purpose but to say what is so.
func (f Finding) isPlain() bool {
	title := unmarked(strings.TrimSuffix(f.Title, "…"))
	if sentence.PurposeOf(title) != sentence.Plainly {
		return false
	}
	for rest := unmarked(f.Text); rest != ""; {
		var s string
		if s, rest = sentence.First(rest); strings.Contains(s, title) && sentence.PurposeOf(s) != sentence.Plainly {
			return false
		}
	}
	return true
}

// unmarked is a text in one line, without marks of code and stress.
func unmarked(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("`", "", "*", "").Replace(s)), " ")
}
