package rows

import (
	"slices"
	"testing"
)

// Words are the title, the texts in their order and the facts, without empty ones.
func TestWords(t *testing.T) {
	t.Parallel()
	r := Row{Title: "t", Narrative: "n", Facts: []string{"f", "", "g"}, Request: "r", Notes: "last", Concepts: []string{"no word"}}
	if got, want := r.Words(), []string{"t", "n", "r", "last", "f", "g"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (Row{}).Words(); len(got) != 0 {
		t.Errorf("got %q of an empty row", got)
	}
}
