package evidence_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// call is a tool use of a session in /w.
func call(tool string, input map[string]any, output string) events.ToolUsed {
	in, _ := json.Marshal(input)
	return events.ToolUsed{Tool: tool, Input: string(in), Output: output, Cwd: "/w"}
}

func edit(file, before, after string) events.ToolUsed {
	return call("Edit", map[string]any{"file_path": file, "old_string": before, "new_string": after}, "")
}

func write(file, text string) events.ToolUsed {
	return call("Write", map[string]any{"file_path": file, "content": text}, "")
}

func shell(command string) events.ToolUsed {
	return call("Bash", map[string]any{"command": command}, `{"stdout":"[main 0a1b2c3] Sort the shelf\n"}`)
}

// TestReworkUndone: the first call is the work, which is asked for by a name that it writes and by all that it writes; the others
// come later.
func TestReworkUndone(t *testing.T) {
	t.Parallel()
	put := edit("/w/shelf.go", "return list", "sortByWidth(list)\nreturn list")
	for name, tc := range map[string]struct {
		later []events.ToolUsed
		by    events.Position // of marks
		all   events.Position // of all lines
		how   events.Undoing
	}{
		"nothing":                      {},
		"another name":                 {later: []events.ToolUsed{edit("/w/shelf.go", "sortByWidth(list)\nreturn list", "sortByHeight(list)\nreturn list")}, by: 2, all: 2, how: events.UndoneRewritten},
		"changed back":                 {later: []events.ToolUsed{edit("/w/shelf.go", "sortByWidth(list)\nreturn list", "return list")}, by: 2, all: 2, how: events.UndoneRewritten},
		"and again":                    {later: []events.ToolUsed{edit("/w/shelf.go", "sortByWidth(list)", "x()"), edit("/w/shelf.go", "x()", "sortByWidth(list)")}},
		"moved into another file":      {later: []events.ToolUsed{edit("/w/shelf.go", "sortByWidth(list)\n", ""), write("/w/order.go", "sortByWidth(list)\n")}},
		"written anew without it":      {later: []events.ToolUsed{write("/w/shelf.go", "package shelf\n")}, by: 2, all: 2, how: events.UndoneRewritten},
		"another file":                 {later: []events.ToolUsed{edit("/w/other.go", "sortByWidth(list)", "")}},
		"restored":                     {later: []events.ToolUsed{shell("git checkout -- shelf.go")}, by: 2, all: 2, how: events.UndoneRestored},
		"restored in a folder":         {later: []events.ToolUsed{shell("cd /w && git restore .")}, by: 2, all: 2, how: events.UndoneRestored},
		"only unstaged":                {later: []events.ToolUsed{shell("git restore --staged shelf.go")}},
		"another branch":               {later: []events.ToolUsed{shell("git checkout -b shelf")}},
		"committed, then restored":     {later: []events.ToolUsed{shell("git commit -am x"), shell("git checkout -- shelf.go")}},
		"committed, then reset":        {later: []events.ToolUsed{shell("git commit -am x"), shell("git reset --hard HEAD~1")}, by: 3, all: 3, how: events.UndoneRestored},
		"committed, then reverted":     {later: []events.ToolUsed{shell("git commit -am x"), shell("git revert --no-edit 0a1b2c3d4e")}, by: 3, all: 3, how: events.UndoneRestored},
		"reverted, and that too":       {later: []events.ToolUsed{shell("git commit -am x"), shell("git revert HEAD"), shell("git revert HEAD")}},
		"reset softly":                 {later: []events.ToolUsed{shell("git commit -am x"), shell("git reset HEAD~1")}},
		"taken out, and that restored": {later: []events.ToolUsed{shell("git commit -am x"), edit("/w/shelf.go", "sortByWidth(list)", ""), shell("git stash")}},
		"stashed":                      {later: []events.ToolUsed{shell("git stash")}, by: 2, all: 2, how: events.UndoneRestored},
		"stashed and back":             {later: []events.ToolUsed{shell("git stash"), shell("git stash pop")}},
		"deleted":                      {later: []events.ToolUsed{shell("rm /w/shelf.go")}, by: 2, all: 2, how: events.UndoneDeleted},
		"its folder deleted":           {later: []events.ToolUsed{shell("rm -rf /w")}, by: 2, all: 2, how: events.UndoneDeleted},
		"renamed, then deleted":        {later: []events.ToolUsed{shell("git mv shelf.go rack.go"), shell("rm rack.go")}, by: 3, all: 3, how: events.UndoneDeleted},
		"a command that failed":        {later: []events.ToolUsed{{Tool: "Bash", Input: `{"command":"rm shelf.go"}`, Failed: true, Cwd: "/w"}}},
		"an edit that failed":          {later: []events.ToolUsed{func() events.ToolUsed { u := edit("/w/shelf.go", "sortByWidth(list)", ""); u.Failed = true; return u }()}},
		"by a patch": {later: []events.ToolUsed{call("apply_patch", map[string]any{
			"input": "*** Begin Patch\n*** Update File: shelf.go\n@@\n-sortByWidth(list)\n+sortByHeight(list)\n*** End Patch"}, "")}, by: 2, all: 2, how: events.UndoneRewritten},
		"all of one name": {later: []events.ToolUsed{call("Edit", map[string]any{
			"file_path": "/w/shelf.go", "old_string": "sortByWidth", "new_string": "sortByHeight", "replace_all": true}, "")}, by: 2, how: events.UndoneRewritten},
	} {
		var work evidence.Rework
		for i, u := range append([]events.ToolUsed{put}, tc.later...) {
			work.Add(events.Position(i+1), evidence.Parse(u))
		}
		by, how := work.UndoneBy(1, 1, []string{"sortByWidth", "neverWritten"}, false)
		if by != tc.by || by != 0 && how != tc.how {
			t.Errorf("%s: the name is undone by %d (%s), want %d (%s)", name, by, how, tc.by, tc.how)
		}
		if by, how := work.UndoneBy(1, 1, nil, true); by != tc.all || by != 0 && how != tc.how {
			t.Errorf("%s: the lines are undone by %d (%s), want %d (%s)", name, by, how, tc.all, tc.how)
		}
	}
}

// TestReworkOfLines: work stands while more than half of the lines that it wrote do.
func TestReworkOfLines(t *testing.T) {
	t.Parallel()
	const lines = 8
	var all []string
	for i := range lines {
		all = append(all, fmt.Sprintf("shelf%d.Sort(byWidth)", i))
	}
	for left := range lines + 1 {
		var work evidence.Rework
		work.Add(1, evidence.Parse(write("/w/shelf.go", strings.Join(all, "\n"))))
		work.Add(2, evidence.Parse(write("/w/shelf.go", strings.Join(all[:left], "\n"))))
		if by, _ := work.UndoneBy(1, 1, nil, true); (by == 0) != (2*left > lines) {
			t.Errorf("with %d of %d lines left it is undone by %d", left, lines, by)
		}
	}
}

// TestReworkOfTwo: what stands of one name keeps the work; what others wrote before is not the work's.
func TestReworkOfTwo(t *testing.T) {
	t.Parallel()
	var work evidence.Rework
	work.Add(1, evidence.Parse(write("/w/a.go", "oldName()\n")))
	work.Add(2, evidence.Parse(edit("/w/a.go", "", "firstName()\nsecondName()\n")))
	work.Add(3, evidence.Parse(edit("/w/a.go", "firstName()", "")))
	work.Add(4, evidence.Parse(edit("/w/a.go", "oldName()", "")))
	if by, _ := work.UndoneBy(2, 2, []string{"firstName", "secondName"}, false); by != 0 {
		t.Errorf("one of two names stands, and the work is undone by %d", by)
	}
	if by, _ := work.UndoneBy(2, 2, []string{"oldName"}, false); by != 0 {
		t.Errorf("a name that others wrote is undone by %d", by)
	}
	if by, _ := work.UndoneBy(2, 2, []string{"firstName"}, false); by != 3 {
		t.Errorf("the one name is undone by %d, want 3", by)
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Sorted by `CreatedAt`, newest first.":        {"CreatedAt"},
		"`go test ./...` passes; see sortByWidth().":  {"sortByWidth"},
		"`wal` is on in store/db.go":                  {"wal", "store/db.go"},
		"Nothing here names anything, not even this.": nil,
		"": nil,
	} {
		if d := cmp.Diff(want, evidence.Marks(text)); d != "" {
			t.Errorf("%q (-want +got):\n%s", text, d)
		}
	}
}

// FuzzRework: whatever calls say, nothing fails, and nothing is undone by the work itself.
func FuzzRework(f *testing.F) {
	f.Add("Edit", `{"file_path":"a","old_string":"x","new_string":"sortIt()"}`, "Bash", `{"command":"git revert HEAD; git reset --hard HEAD~2; git stash pop"}`, "`sortIt`")
	f.Add("apply_patch", "*** Begin Patch\n*** Delete File: a\n--- a\n+++ b\n+x", "Bash", `{"command":"mv a b; rm -r . ; git commit --amend"}`, "")
	f.Fuzz(func(t *testing.T, tool, input, later, command, text string) {
		var work evidence.Rework
		work.Add(1, evidence.Parse(events.ToolUsed{Tool: tool, Input: input, Cwd: "/w"}))
		work.Add(2, evidence.Parse(events.ToolUsed{Tool: later, Input: command, Cwd: "/w"}))
		marks := evidence.Marks(text)
		if by, how := work.UndoneBy(1, 1, marks, true); by == 1 || (by == 0) != (how == "") && by != 0 {
			t.Errorf("undone by %d (%q)", by, how)
		}
		if i := slices.IndexFunc(marks, func(m string) bool { return strings.ContainsAny(m, " \n`") }); i >= 0 {
			t.Errorf("a mark is %q", marks[i])
		}
	})
}
