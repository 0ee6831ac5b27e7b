package evidence

import (
	"slices"
	"testing"

	"github.com/cmemd/cmemd/events"
)

func TestNotable(t *testing.T) {
	t.Parallel()
	failed := func(u events.ToolUsed) events.ToolUsed {
		u.Failed = true
		return u
	}
	const made = `{"stdout":"[main 4b44602] first\n 1 file changed","stderr":""}`
	for _, tc := range []struct {
		name string
		tool events.ToolUsed
		want bool
	}{
		{"edit", used("Edit", `{"file_path":"a.go","old_string":"a","new_string":"b"}`, `{}`), true},
		{"edit of a tool nobody knows", used("frobnicate", `{"path":"a.go","content":"x"}`, ``), true},
		{"edit by an MCP server", used("mcp__fs__write_file", `{"path":"a.go","content":"x"}`, ``), true},
		{"patch in a shell", used("shell", `{"command":["apply_patch","*** Begin Patch\n*** Add File: a.go\n+b\n*** End Patch"]}`, ``), true},
		{"edit that failed", failed(used("Edit", `{"file_path":"a.go","old_string":"a","new_string":"b"}`, `{}`)), false},
		{"read", used("Read", `{"file_path":"a.go"}`, ``), false},
		{"search", used("Grep", `{"pattern":"git commit"}`, ``), false},
		{"web", used("WebFetch", `{"url":"https://example.org"}`, ``), false},
		{"commit", used("Bash", `{"command":"git add . && git commit -m x"}`, made), true},
		{"quiet commit", used("Bash", `{"command":"git commit -qm x"}`, `{"stdout":"","stderr":""}`), true},
		{"quiet commit in a nested shell", used("Bash", `{"command":"sh -c 'git commit --quiet -m x'"}`, ``), true},
		{"commit of which nothing is known", used("Bash", `{"command":"git commit -m x"}`, `""`), false},
		{"commit that failed", failed(used("Bash", `{"command":"git commit -m x"}`, made)), false},
		{"trial", used("Bash", `{"command":"git commit -q --dry-run"}`, ``), false},
		{"log that looks like a commit", used("Bash", `{"command":"cat log"}`, made), false},
		{"log of commits", used("Bash", `{"command":"git log -q"}`, ``), false},
		{"tests that passed", used("Bash", `{"command":"go test ./..."}`, `{"stdout":"FAIL","stderr":""}`), false},
		{"tests that failed by their exit", used("shell", `{"command":["go","test"]}`, `{"output":"ok","metadata":{"exit_code":1}}`), true},
		{"tests that failed by the client's word", failed(used("Bash", `{"command":"cd x && npm test"}`, `ok`)), true},
		{"tests that were interrupted", used("Bash", `{"command":"go test"}`, `{"stdout":"","interrupted":true}`), false},
		{"a list of tests that failed", failed(used("Bash", `{"command":"pytest --collect-only"}`, ``)), false},
		{"another command that failed", failed(used("Bash", `{"command":"cat test"}`, `FAIL`)), false},
		{"words about tests that failed", failed(used("Bash", `{"command":"echo go test"}`, `FAIL`)), false},
		{"nothing", used("", ``, ``), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := Parse(tc.tool).Notable(); got != tc.want {
				t.Errorf("Notable is %t, want %t", got, tc.want)
			}
		})
	}
}

func TestQuietCommit(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		`git commit -q -m "Round totals once"`:                                                "Round totals once",
		`git commit -qm 'Round totals once'`:                                                  "Round totals once",
		`git -C shop commit -aqm "Round totals once" -m "Body"`:                               "Round totals once",
		`git commit --quiet --message="Round totals once"`:                                    "Round totals once",
		"git commit -q -m \"$(cat <<'EOF'\nRound totals once\n\nBody\nEOF\n)\"":               "Round totals once",
		`git commit -q -m "$MSG"`:                                                             "",
		`git commit -q -m "$(cat msg)"`:                                                       "",
		`git commit -q -F msg`:                                                                "",
		"git add . && git commit -q -F - <<'EOF'\nRound totals once\n\nBody\nEOF\ngit log -1": "Round totals once",
		"git commit -qF - <<-EOF && git push\n\tRound totals once\n\tEOF":                     "Round totals once",
		"git commit -qF- <<EOF\nRound totals once\nEOF":                                       "Round totals once",
		"git commit --quiet --file=- <<EOF\nRound $TOTAL once\nEOF":                           "",
		"cat > msg <<EOF\nNo message\nEOF\ngit commit -q --file -":                            "",
		`git commit -q -m`: "",
	} {
		all := Split(command)
		i := slices.IndexFunc(all, commitsQuietly)
		if i < 0 {
			t.Errorf("%s is not quiet", command)
			continue
		}
		if subject, _ := all[i].QuietCommit(); subject != want {
			t.Errorf("%s: %q; want %q", command, subject, want)
		}
	}
	for _, command := range []string{`git commit -m "Round totals once"`, `git commit -q --dry-run`, `git log -q`, `git commit -m "-q"`, `git commit --amend`} {
		if subject, ok := Split(command)[0].QuietCommit(); ok {
			t.Errorf("%s is quiet, with %q", command, subject)
		}
	}
}

// TestCommitMessage: a here-document ends at its delimiter, however that is written.
func TestCommitMessage(t *testing.T) {
	t.Parallel()
	for _, begin := range []string{"<<EOF", "<<'EOF'", `<< "EOF"`, `<<\\EOF`, "<<-EOF", "<<'EOF' | cat", "<<'EOF'\r"} {
		for _, end := range []string{"EOF\n)", "EOF\r\n)", "\tEOF\n  )"} {
			all := Split("git commit -m \"$(cat " + begin + "\nRound totals once\n\nBody\n" + end + "\"")
			if got := all[0].CommitMessage(); got != "Round totals once\n\nBody" {
				t.Errorf("%q, %q: %q", begin, end, got)
			}
		}
	}
}
