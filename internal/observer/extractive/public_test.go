package extractive

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// Every answer of every recorded session is observed and summed up within the rules, and work is never skipped.
func TestRecordedSessions(t *testing.T) {
	t.Parallel()
	turns, observed := 0, 0
	for _, path := range publicTranscripts(t) {
		cwd, list := readTranscript(t, path)
		for i, tn := range list {
			turns++
			parsed := ask(t, tn.observation(cwd))
			checkLeaks(t, parsed)
			checkLeaks(t, ask(t, tn.summary(cwd, parsed.Observations)))
			observed += len(parsed.Observations)
			if len(parsed.Observations) == 0 && changesFiles(tn) {
				t.Errorf("%s, answer %d: files were changed and nothing was observed", filepath.Base(path), i+1)
			}
		}
	}
	if turns < 30 || observed < 20 {
		t.Errorf("got %d observations of %d answers, want at least 20 of 30: the reader is broken", observed, turns)
	}
}

func changesFiles(tn turn) bool {
	for _, in := range tn.inputs {
		if u, ok := in.Event.(events.ToolUsed); ok {
			if _, changed := evidence.Parse(u).Files(); len(changed) > 0 {
				return true
			}
		}
	}
	return false
}

// What the recorded sessions are known to hold is found.
func TestRecordedSessionsAreUnderstood(t *testing.T) {
	t.Parallel()
	want := map[string][]string{ // types and titles of the observations, in order
		"entire-much-progress.jsonl": {
			"change", "Added wingman.lock and wingman-state.json to .gitignore.",
			"change", "The fix is in cmd/entire/cli/strategy/common.go — added wingman.lock, wingman-state.json, wingman-payload.json, and REVIEW.md to the…",
			"bugfix", "fix: auto-gitignore wingman runtime files",
		},
		"entire-one-commit-c.jsonl": {
			"change", "When wingman is enabled, the session start message will now show: Powered by Entire: This conversation will be linked to your next commit.…",
			"change", "Show wingman status in session start message",
		},
		"entire-one-commit-short.jsonl": {"refactor", "refactor(explain): move commit message before files list"},
		"entire-long-62-tools-2-commits.jsonl": {
			"change", "I've successfully implemented the Phase 2B task lifecycle hooks for the Entire CLI.", // its two commits were made in a scratch folder
		},
		"viewer-long.jsonl": {
			"feature", "I've successfully created a fully functional TODO app using Next.js through parallel task execution. — `npm run build` failed",
			"change", "CLAUDE.md has been created with comprehensive documentation of the TODO app project, including structure, tech stack, features, development…",
		},
		"viewer-small.jsonl": {"discovery", "Failed to change CLAUDE.md"},
	}
	for _, path := range publicTranscripts(t) {
		titles, ok := want[filepath.Base(path)]
		if !ok {
			continue
		}
		cwd, list := readTranscript(t, path)
		var got []string
		for _, tn := range list {
			for _, o := range ask(t, tn.observation(cwd)).Observations {
				got = append(got, o.Type, o.Title)
			}
		}
		if !slices.Equal(got, titles) {
			t.Errorf("%s:\n got %q\nwant %q", filepath.Base(path), got, titles)
		}
	}
}
