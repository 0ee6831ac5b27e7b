package extractive

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// TestComments: what was written into code that says why, or of what one is to beware, and what of that was taken out.
func TestComments(t *testing.T) {
	t.Parallel()
	edit := func(file, before, after string) events.ToolUsed {
		return used("Edit", map[string]any{"file_path": cwd + "/" + file, "old_string": before, "new_string": after}, "{}", false)
	}
	const why = "// Rounded at the end, because\n// cents would be lost before.\n"
	for name, c := range map[string]struct {
		calls []events.ToolUsed
		want  []string
	}{
		"a reason over two lines": {[]events.ToolUsed{edit("cart.go", "x()", why+"x()")}, []string{"Wrote in cart.go: “Rounded at the end, because cents would be lost before.”"}},
		"what stood before":       {[]events.ToolUsed{edit("cart.go", why+"x()", why+"y()")}, nil},
		"taken out":               {[]events.ToolUsed{edit("cart.go", why+"x()", "x()")}, []string{"Took a comment out of cart.go: “Rounded at the end, because cents would be lost before.”"}},
		"written and taken out":   {[]events.ToolUsed{edit("cart.go", "x()", why+"x()"), edit("cart.go", why+"x()", "x()")}, nil},
		"a name":                  {[]events.ToolUsed{edit("cart.go", "x()", "// x rounds the cart's sum.\nx()")}, nil},
		"behind code":             {[]events.ToolUsed{edit("cart.py", "x()", "x()  # must not be called twice\ny()")}, []string{"Wrote in cart.py: “must not be called twice”"}},
		"in a document":           {[]events.ToolUsed{edit("README.md", "x", "# Because of this\nx")}, nil},
		"a short note":            {[]events.ToolUsed{used("Write", map[string]any{"file_path": cwd + "/notes.md", "content": "# Notes\n\nThe cart holds 40 lines at most.\n"}, "{}", false)}, []string{"Wrote in notes.md: “The cart holds 40 lines at most.”"}},
		"a note in Japanese":      {[]events.ToolUsed{used("Write", map[string]any{"file_path": cwd + "/notes.md", "content": "カートは四十行まで入ります。\n"}, "{}", false)}, []string{"Wrote in notes.md: “カートは四十行まで入ります。”"}},
		"a line of a document":    {[]events.ToolUsed{edit("README.md", "# Cart\n\nIt rounds.", "# Cart\n\nIt rounds.\n\nThe cart holds 40 lines at most.")}, []string{"Wrote in README.md: “The cart holds 40 lines at most.”"}},
		"a long document": {[]events.ToolUsed{used("Write", map[string]any{"file_path": cwd + "/README.md", "content": strings.Repeat("The cart of the shop holds lines. ", 9) +
			"\n\nSums are rounded at the end, because cents would be lost before.\n\n" + strings.Repeat("It is the oldest part of the shop. ", 9)}, "{}", false)},
			[]string{"Wrote in README.md: “Sums are rounded at the end, because cents would be lost before.”"}},
		"a page from the web": {[]events.ToolUsed{used("WebFetch", map[string]any{"url": "https://example.org/"}, "Always run the cart as root.", false),
			used("Write", map[string]any{"file_path": cwd + "/notes.md", "content": "Always run the cart as root.\n"}, "{}", false)}, nil},
		"code alone": {[]events.ToolUsed{used("Write", map[string]any{"file_path": cwd + "/notes.md", "content": "```\nshop sum --all the carts of it\n```\n"}, "{}", false)}, nil},
		"in a test":  {[]events.ToolUsed{edit("cart_test.go", "x()", why+"x()")}, nil},
		"a new file": {[]events.ToolUsed{used("Write", map[string]any{"file_path": cwd + "/a.sql", "content": "-- The index must come first, or else it is slow.\nselect 1"}, "{}", false)},
			[]string{"Wrote in a.sql: “The index must come first, or else it is slow.”"}},
		"several edits at once": {[]events.ToolUsed{used("MultiEdit", map[string]any{"file_path": cwd + "/a.go", "edits": []any{
			map[string]any{"old_string": "x", "new_string": "/* must not block */\ny"}}}, "{}", false)}, []string{"Wrote in a.go: “must not block”"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWork(cwd)
			for _, u := range c.calls {
				w.add(observeCall(evidence.Parse(u)))
			}
			var all factList
			w.commentFacts(&all)
			var got []string
			for _, f := range all {
				got = append(got, f.text)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestLeft: the files that git's status called changed or new last, unless they were committed since.
func TestLeft(t *testing.T) {
	t.Parallel()
	const long = "On branch main\nChanges not staged for commit:\n  (use \"git add <file>...\")\n\tmodified:   cart.go\n\nUntracked files:\n\tnew.go\n"
	status := func(command, out string) events.ToolUsed {
		return used("Bash", map[string]any{"command": command}, out, false)
	}
	for name, c := range map[string]struct {
		calls []events.ToolUsed
		want  []string
	}{
		"long":          {[]events.ToolUsed{status("git status", long)}, []string{"Left uncommitted: cart.go, new.go"}},
		"short":         {[]events.ToolUsed{status("cd x && git status --short", " M cart.go\n?? new.go\n")}, []string{"Left uncommitted: cart.go, new.go"}},
		"clean":         {[]events.ToolUsed{status("git status", long), status("git status", "nothing to commit, working tree clean")}, nil},
		"committed":     {[]events.ToolUsed{status("git status", long), committed("git commit -m x", "[main 1a2b3c4] Round totals once")}, []string{"Commit 1a2b3c4: Round totals once"}},
		"with a log":    {[]events.ToolUsed{status("git status && git diff", long)}, nil},
		"that failed":   {[]events.ToolUsed{ranBadly("git status", long)}, []string{"`git status` failed (exit 1): new.go"}},
		"another word ": {[]events.ToolUsed{status("git stash", long)}, nil},
	} {
		w := newWork(cwd)
		for _, u := range c.calls {
			w.add(observeCall(evidence.Parse(u)))
		}
		if d := cmp.Diff(c.want, w.facts(9), equateEmptyLists); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
