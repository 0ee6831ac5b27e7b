package extractive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// TestFindingsThatAreDated: what was said of how things were, before a call changed that, says that it was so before.
func TestFindingsThatAreDated(t *testing.T) {
	t.Parallel()
	const (
		said = "The sum is late because taxOf() asks the server."
		done = "The sum is right now."
	)
	edit := func(file, before, after string) [3]string {
		return [3]string{"Edit", fmt.Sprintf(`"file_path":"/src/shop/%s","old_string":%q,"new_string":%q`, file, before, after), ""}
	}
	for name, c := range map[string]struct {
		steps []any
		want  string
	}{
		"a word taken out": {[]any{said, edit("cart.go", "return taxOf(c)", "return c.tax"), done}, "Before cart.go was changed: " + said},
		"a word put in":    {[]any{said, edit("cart.go", "return c.tax", "return taxOf(c)"), done}, said},
		"a word put in and taken out": {
			[]any{said, edit("cart.go", "return c.tax", "return taxOf(c)"), edit("cart.go", "return taxOf(c)", "return c.tax"), done}, said,
		},
		"before it was said": {[]any{edit("cart.go", "return taxOf(c)", "return c.tax"), said, done}, said},
		"another word":       {[]any{said, edit("cart.go", "return sum", "return total"), done}, said},
		"a file that it names": {
			[]any{"The import of cart.go by tax.go fails because of a cycle.", edit("cart.go", "a", "b"), done},
			"The import of cart.go by tax.go fails because of a cycle.",
		},
		"a file that is new": {
			[]any{"The sum is late because there is no rates.go to ask.", [3]string{"Write", `"file_path":"/src/shop/rates.go","content":"package shop"`, ""}, done},
			"The sum is late because there is no rates.go to ask.",
		},
		"a file that is removed": {
			[]any{"The sum is late because old_rates.go is asked too.", [3]string{"Bash", `"command":"rm old_rates.go"`, `{"stdout":"","interrupted":false}`}, edit("tax.go", "a", "b"), done},
			"Before old_rates.go was removed: The sum is late because old_rates.go is asked too.",
		},
		"what was missing": {
			[]any{"The sum is late because taxOf() gets no maxWait.", edit("cart.go", "taxOf(c)", "taxOf(c, maxWait)"), done},
			"Before cart.go was changed: The sum is late because taxOf() gets no maxWait.",
		},
		"what was done": {
			[]any{edit("cart.go", "a", "b"), "Changed cart.go so that it rounds once, because taxOf() gives a float.", edit("cart.go", "return taxOf(c)", "return c.tax"), done},
			"Changed cart.go so that it rounds once, because taxOf() gives a float.",
		},
		"a figure": {
			[]any{"The sum takes 250 ms because the server is far away.", edit("shop.css", "delay: 250", "delay: 300"), done},
			"The sum takes 250 ms because the server is far away.",
		},
		"an edit that was put back": {
			[]any{said, edit("cart.go", "return taxOf(c)", "return c.tax"), edit("cart.go", "return c.tax", "return taxOf(c)"), done}, said,
		},
		"a decision": {
			[]any{"We keep taxOf() rather than a table.", edit("cart.go", "return taxOf(c)", "return c.tax"), done}, "We keep taxOf() rather than a table.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, err := New().observe(t.Context(), answering(c.steps))
			if err != nil {
				t.Fatal(err)
			}
			if len(all) != 2 {
				t.Fatalf("%d observations, want 2: %+v", len(all), all)
			}
			if last := all[1]; strings.TrimRight(last.Title, ".") != strings.TrimRight(c.want, ".") {
				t.Errorf("got %q, want %q", last.Title, c.want)
			}
		})
	}
}

// TestWhatWasDoneBehindFindings: what was said on the way says below its title what was changed behind it.
func TestWhatWasDoneBehindFindings(t *testing.T) {
	t.Parallel()
	const said, done = "The sum is late because taxOf() asks the server.", "The sum is right now."
	edit := func(file string) [3]string {
		return [3]string{"Edit", fmt.Sprintf(`"file_path":"/src/shop/%s","old_string":"a","new_string":"b"`, file), ""}
	}
	run := func(command string) [3]string {
		return [3]string{"Bash", fmt.Sprintf(`"command":%q`, command), `{"stdout":"","interrupted":false}`}
	}
	for name, c := range map[string]struct {
		steps []any
		want  string
	}{
		"nothing":                 {[]any{edit("cart.go"), said, run("go vet ./..."), run("git log -1"), done}, ""},
		"files":                   {[]any{said, edit("cart.go"), edit("tax.go"), edit("cart.go"), edit("a.go"), edit("b.go"), done}, "Then: cart.go, tax.go, a.go and 1 more changed"},
		"what git did not record": {[]any{said, run("git push --dry-run"), run("git tag"), run("git rebase --abort"), done}, ""},
		"what git recorded":       {[]any{said, run("git add . && git commit -q -m 'Ask once' && git push"), done}, "Then: `git commit`, `git push`"},
		"both":                    {[]any{said, edit("cart.go"), run("git push"), done}, "Then: cart.go changed; `git push`"},
		"what is gone":            {[]any{edit("cart.go"), said, edit("tax.go"), run("git rm -q cart.go && rm -rf tax.go /tmp/scratch"), done}, "Then: cart.go, tax.go removed; `git rm`"},
		"behind the last of two":  {[]any{said, edit("cart.go"), "The tax is late because rateOf() asks it too.", run("git push"), done}, "Then: `git push`"},
	} {
		all, err := New().observe(t.Context(), answering(c.steps))
		if err != nil {
			t.Fatal(err)
		}
		if got := all[len(all)-1].Subtitle; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestManyFilesBehindFindings: what was changed behind findings takes no time that grows with the square of the files: this would take minutes.
func TestManyFilesBehindFindings(t *testing.T) {
	t.Parallel()
	w := newWork("/src/shop")
	for i := range 500 {
		e := edit{callIndex: i + 1, made: &evidence.Call{}}
		for j := range 400 {
			e.files = append(e.files, fmt.Sprintf("/src/shop/f%d_%d.go", i, j))
		}
		w.edits = append(w.edits, e)
	}
	files := w.fileChanges()
	for at := range 12 {
		if got, want := w.then(at, files), fmt.Sprintf("Then: f%d_0.go, f%d_1.go, f%d_2.go and %d more changed", at, at, at, 400*(500-at)-3); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}

// TestFindingsBehindAFailureThatWasOvercome: beside why a command failed stands that it passed after changes.
func TestFindingsBehindAFailureThatWasOvercome(t *testing.T) {
	t.Parallel()
	const said = "The test fails because the country is not known yet."
	failing := [3]string{"Bash", `"command":"go test ./..."`, "Exit code 1\ncart_test.go:12: sum is 0, want 3\nFAIL"}
	mended := []any{
		[3]string{"Edit", `"file_path":"/src/shop/cart.go","old_string":"a","new_string":"b"`, ""},
		[3]string{"Bash", `"command":"go test ./..."`, "ok"}, "The sum is right now.",
	}
	for name, steps := range map[string][]any{
		"alone":           {failing, said},
		"with what is so": {failing, said, [3]string{"Read", `"file_path":"/src/shop/rates.go"`, "package shop"}, "The view asks rateOf() because of that."},
	} {
		p := answering(append(steps, mended...))
		u := p.Inputs[0].Event.(events.ToolUsed)
		u.Failed = true
		p.Inputs[0].Event = u
		all, err := New().observe(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		last := all[len(all)-1]
		if !strings.HasPrefix(orTitle(last), strings.TrimSuffix(said, ".")) {
			t.Errorf("%s: %q, want %q first", name, orTitle(last), said)
		}
		if d := cmp.Diff([]string{"Said behind a failure: cart_test.go:12: sum is 0, want 3; passed after changes"}, last.Facts); d != "" {
			t.Errorf("%s: facts (-want +got):\n%s", name, d)
		}
	}
}
