package sentence

import (
	"fmt"
	"strings"
	"testing"
)

// Later work goes on with the same if it names the same code in code marks, and touched the same file.
func TestSubjects(t *testing.T) {
	t.Parallel()
	const sorted, byPosition = "Sorted by `CreatedAt`, the newest first.", "Sorted by position in the place of `cart.CreatedAt()`."
	cart, fence := []string{"/w/shop/cart.go"}, []string{"/w/shop/fence.go"}
	type work struct {
		text  string
		files []string
	}
	for name, c := range map[string]struct {
		earlier, later work
		want           bool
	}{
		"the same file":                 {work{sorted, cart}, work{byPosition, cart}, true},
		"a file of the same name":       {work{sorted, cart}, work{byPosition, []string{"/w/mail/cart.go"}}, false},
		"one of several files":          {work{sorted, append(fence, cart...)}, work{byPosition, cart}, true},
		"another file":                  {work{sorted, fence}, work{byPosition, cart}, false},
		"an answer without a file":      {work{sorted, nil}, work{byPosition, cart}, true},
		"answers without files":         {work{sorted, nil}, work{byPosition, nil}, true},
		"a later answer without a file": {work{sorted, cart}, work{byPosition, nil}, false},
		"a name with an underscore":     {work{"Sorted by `created_at`.", cart}, work{"By `created_at DESC`.", cart}, true},
		"another name":                  {work{"Sorted by `UpdatedAt`.", cart}, work{byPosition, cart}, false},
		"a name in no code marks":       {work{"Sorted by CreatedAt.", cart}, work{byPosition, cart}, false},
		"a word in code marks":          {work{"Sorted by `date`.", cart}, work{"By the `date`.", cart}, false},
		"a mark that is not closed":     {work{"That's `odd.\nSorted by `CreatedAt`.", cart}, work{byPosition, cart}, true},
		"a mark that ends the text":     {work{"That's `CreatedAt", cart}, work{byPosition, cart}, false},
		"between marks":                 {work{"`a` CreatedAt `b`", cart}, work{byPosition, cart}, false},
	} {
		earlier, later := SubjectOf([]string{c.earlier.text}, c.earlier.files), SubjectOf([]string{"", c.later.text}, nil, c.later.files)
		if got := earlier.GoesOn(later); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Of many names and files the first count: an observation speaks of a few, whatever it quotes.
func TestSubjectsAreBounded(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 2 * maxCodeNames {
		fmt.Fprintf(&text, "`name_%d` ", i)
	}
	var files []string
	for i := range 2 * maxFiles {
		files = append(files, fmt.Sprintf("/w/shop/%d.go", i))
	}
	all := SubjectOf([]string{text.String()}, files)
	if len(all.names) != maxCodeNames || !all.names["name_0"] || len(all.files) != maxFiles || !all.files["/w/shop/0.go"] {
		t.Errorf("%d names, %d files", len(all.names), len(all.files))
	}
}
