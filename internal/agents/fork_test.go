package agents

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// forkOf makes a line of a session one that the session fork has from it.
func forkOf(session, line string) string {
	return strings.Replace(line, `"sessionId":"s1"`, fmt.Sprintf(`"sessionId":"fork","forkedFrom":{"sessionId":%q,"messageUuid":"m"}`, session), 1)
}

func ownOf(line string) string {
	return strings.Replace(line, `"sessionId":"s1"`, `"sessionId":"fork"`, 1)
}

// TestForkedTranscripts: a line that was copied from the session a transcript was forked from tells nothing new. A call in it
// is answered in the fork all the same.
func TestForkedTranscripts(t *testing.T) {
	t.Parallel()
	copies := []string{forkOf("s1", user(1, "a")), forkOf("s1", assistant(2, call("t1", "Read"))), forkOf("s1", result(3, "t1", `"x"`, "")),
		forkOf("s1", assistant(4, said("done"))), forkOf("s1", assistant(5, call("t2", "Bash")))}
	for _, c := range []struct {
		name   string
		lines  []string
		want   []string
		copied int
	}{
		{"copies alone", copies, nil, 5},
		{"goes on", append(copies[:4:4], ownOf(user(6, "b")), ownOf(assistant(7, call("t1", "Grep"))), ownOf(result(8, "t1", `"y"`, "")), ownOf(assistant(9, said("so")))),
			[]string{"opened fork", "prompt b", "tool Grep y", "stop so"}, 4},
		{"a call of before", append(copies[:5:5], ownOf(result(6, "t2", `"z"`, ""))), []string{"opened fork", "tool Bash z"}, 5},
		{"a result of before", append(copies[:3:3], ownOf(result(6, "t1", `"again"`, ""))), []string{"opened fork"}, 3},
		{"a fork of a fork", []string{forkOf("other", user(1, "a")), ownOf(user(2, "b"))}, []string{"opened fork", "prompt b"}, 1},
		{"forked from itself", []string{forkOf("fork", user(1, "a"))}, []string{"opened fork", "prompt a"}, 0},
		{"from nowhere", []string{strings.Replace(ownOf(user(1, "a")), `"type"`, `"forkedFrom":null,"type"`, 1)}, []string{"opened fork", "prompt a"}, 0},
	} {
		captures, bad, p := readAll(t, strings.NewReader(strings.Join(c.lines, "\n")+"\n"))
		var got []string
		for _, c := range captures {
			got = append(got, brief(c))
		}
		if diff := cmp.Diff(c.want, got); diff != "" || len(bad) > 0 || p.Skipped[skippedFork] != c.copied {
			t.Errorf("%s: errors %v, skipped %v, -want +got:\n%s", c.name, bad, p.Skipped, diff)
		}
		checkTranscript(t, captures)
	}
}

// TestTranscriptsForkedAsTheyBegan: the lines that `claude --resume --fork-session` copies do not say so; they are older than
// the first line of the fork's own.
func TestTranscriptsForkedAsTheyBegan(t *testing.T) {
	t.Parallel()
	queued := func(second int) string {
		return fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-02T03:04:%02dZ","sessionId":"s1"}`, second)
	}
	snapshot := func(second int, of string) string {
		return fmt.Sprintf(`{"type":"file-history-snapshot","messageId":%q,"snapshot":{"messageId":%q,"trackedFileBackups":{},"timestamp":"2026-01-02T03:04:%02dZ"}}`, of, of, second)
	}
	old := []string{user(1, "a"), assistant(2, call("t1", "Read")), result(3, "t1", `"x"`, ""), assistant(4, said("done"))}
	whole := []string{"opened s1", "prompt a", "tool Read x", "stop done"}
	for _, c := range []struct {
		name   string
		lines  []string
		want   []string
		copied int
	}{
		{"printed", append([]string{queued(9)}, append(old, user(10, "b"), assistant(11, said("so")))...), []string{"opened s1", "prompt b", "stop so"}, 4},
		{"at a terminal", append([]string{snapshot(11, "u10")}, append(old, user(10, "b"), assistant(11, said("so")))...), []string{"opened s1", "prompt b", "stop so"}, 4},
		{"a call of before", append([]string{queued(9)}, append(old[:2:2], result(10, "t1", `"y"`, ""))...), []string{"opened s1", "tool Read y"}, 2},
		{"no fork, printed", append([]string{queued(1)}, old...), whole, 0},
		{"no fork, a slow disk", append([]string{snapshot(30, "u1")}, old...), whole, 0},
		{"no fork, another snapshot", append([]string{snapshot(2, "m")}, old...), whole, 0},
		{"no fork, a snapshot later", append(old[:1:1], append([]string{snapshot(59, "m"), queued(58)}, old[1:]...)...), whole, 0},
		{"a clock that was set back behind the beginning", append([]string{queued(1)}, append(old, user(0, "b"))...), append(whole[:4:4], "prompt b"), 0},
		{"a snapshot without a time", append([]string{`{"type":"file-history-snapshot","snapshot":{}}`}, old...), whole, 0},
	} {
		captures, bad, p := readAll(t, strings.NewReader(strings.Join(c.lines, "\n")+"\n"))
		var got []string
		for _, c := range captures {
			got = append(got, brief(c))
		}
		if diff := cmp.Diff(c.want, got); diff != "" || len(bad) > 0 || p.Skipped[skippedFork] != c.copied {
			t.Errorf("%s: errors %v, skipped %v, -want +got:\n%s", c.name, bad, p.Skipped, diff)
		}
		checkTranscript(t, captures)
	}
}

// TestForkedRollouts: where the lines end that a rollout has from the one that it was forked from.
func TestForkedRollouts(t *testing.T) {
	t.Parallel()
	const (
		parent, then = "019b0000-0000-7000-8000-000000000001", "019b0000-1000-7000-8000-000000000002"
		fork, now    = "019b0001-0000-7000-8000-000000000003", "019b0001-1000-7000-8000-000000000004"
	)
	line := func(ms int, kind, payload string) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-02T03:04:%02d.%03dZ","type":%q,"payload":%s}`, ms/1000, ms%1000, kind, payload)
	}
	meta := func(id, more string) string {
		return line(0, "session_meta", fmt.Sprintf(`{"id":%q,"session_id":%q,"cwd":"/p"%s}`, id, id, more))
	}
	begin := func(ms int, turn string) string {
		return line(ms, "event_msg", fmt.Sprintf(`{"type":"task_started","turn_id":%q}`, turn))
	}
	settings := func(ms int, thread string) string {
		return line(ms, "event_msg", fmt.Sprintf(`{"type":"thread_settings_applied","thread_id":%q}`, thread))
	}
	say := func(ms int, text string) string {
		return line(ms, "response_item", fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, text))
	}
	forked := meta(fork, fmt.Sprintf(`,"forked_from_id":%q`, parent))
	const opened = "open " + fork + " /p\n"
	for _, c := range []struct {
		name   string
		lines  []string
		want   string
		copied int
	}{
		{"up to a turn of its own", []string{forked, meta(parent, ""), begin(1, then), say(2, "old"), begin(20, now), say(21, "new")}, opened + "prompt new", 3},
		{"up to its own name", []string{forked, meta(parent, ""), say(1, "old"), settings(2, parent), settings(3, fork), say(21, "new")}, opened + "prompt new", 3},
		{"up to a rest", []string{forked, meta(parent, ""), say(1, "old"), say(900, "older"), say(2000, "new")}, opened + "prompt new", 3},
		{"of turns alone", []string{forked, begin(1, then), say(2, "old"), begin(20, now), say(21, "new")}, opened + "prompt new", 2},
		{"of a fork", []string{forked, meta(parent, `,"forked_from_id":"x"`), meta("x", ""), say(2, "old"), begin(20, now), say(21, "new")}, opened + "prompt new", 3},
		{"by reference", []string{forked, settings(1, fork), begin(2, now), say(3, "new")}, opened + "prompt new", 0},
		{"by reference, bare", []string{forked, say(3, "new")}, opened + "prompt new", 0},
		{"a turn of its own names another", []string{forked, meta(parent, ""), begin(20, now), settings(21, "other"), say(22, "new")}, opened + "prompt new", 1},
		{"that does not say so", []string{meta(fork, ""), meta(parent, ""), begin(1, then), say(2, "old"), begin(20, now), say(21, "new")}, opened + "prompt new", 3},
		{"none, of ids that tell no time", []string{meta("s", ""), begin(1, "1"), say(2, "a"), begin(3, "2"), say(4, "b")}, "open s /p\nprompt a\nprompt b", 0},
		{"none, in which a turn is old", []string{meta(fork, ""), begin(1, then), say(2, "a")}, opened + "prompt a", 0},
	} {
		captures, bad, p := readAllOf(t, "codex", "/t/s1.jsonl", strings.NewReader(strings.Join(c.lines, "\n")+"\n"))
		if diff := cmp.Diff(c.want, told(captures)); diff != "" || len(bad) > 0 || p.Skipped[skippedFork] != c.copied {
			t.Errorf("%s: errors %v, skipped %v, -want +got:\n%s", c.name, bad, p.Skipped, diff)
		}
		checkTranscript(t, captures)
	}
}
