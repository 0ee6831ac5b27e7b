package agents

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// TestTranscriptSameWords: an agent that says the same again, after a stop hook made it go on, stopped twice. A line that
// the transcript holds twice is one stop.
func TestTranscriptSameWords(t *testing.T) {
	t.Parallel()
	feedback := func(n int) string {
		return line(n, "user", `"isMeta":true,"promptId":"p1","message":{"content":"Stop hook feedback: go on"}`)
	}
	done := assistant(2, said("Done."))
	lines := []string{user(1, "a"), done, feedback(3), assistant(4, said("Done.")), feedback(5), assistant(6, said("Done.")), feedback(7), done}
	read := func(lines []string) (stops []session.Capture) {
		captures, _, _ := readAll(t, strings.NewReader(strings.Join(lines, "\n")+"\n"))
		for _, c := range captures {
			if _, ok := c.Event.(events.AgentStopped); ok {
				stops = append(stops, c)
			}
		}
		return stops
	}
	stops := read(lines)
	keys := map[events.Key]bool{}
	for _, c := range stops {
		keys[c.Key] = true
	}
	if len(stops) != 4 || len(keys) != 3 {
		t.Errorf("got %d stops under %d keys, want 4 under 3", len(stops), len(keys))
	}
	hook := mustDecode(t, payload("Stop", "session_id", "s1", "prompt_id", "p1", "last_assistant_message", "Done."))
	if got := stops[0].Key; got != hook.Captures[0].Key {
		t.Errorf("first stop: got key %v, want that of its hook, %v", got, hook.Captures[0].Key)
	}
	if diff := cmp.Diff(stops, read(lines)); diff != "" {
		t.Errorf("the second reading differs:\n%s", diff)
	}
}

// TestTranscriptBadTimes: a line without a time, or with one that no clock shows, is of the last good time, or of the
// first one soon after it; without any it is an error.
func TestTranscriptBadTimes(t *testing.T) {
	t.Parallel()
	at := func(n int, time string) string {
		return fmt.Sprintf(`{"type":"user","sessionId":"s1","cwd":"/p","uuid":"u%d",%s"message":{"content":"a%d"}}`, n, time, n)
	}
	const good, other = `"timestamp":"2026-01-02T03:04:05Z",`, `{"type":"mode","timestamp":"2026-01-02T03:04:06+00:00"}`
	pad := `{"type":"pad","pad":"` + strings.Repeat("x", 70<<10) + `"}`
	for _, c := range []struct {
		name  string
		lines []string
		want  string // seconds of the captures after the session's start
		bad   int
	}{
		{"good", []string{at(1, good)}, "5", 0},
		{"none, behind a good one", []string{at(1, good), at(2, "")}, "5 5", 0},
		{"year 1754", []string{at(1, good), at(2, `"timestamp":"1754-01-01T00:00:00Z",`)}, "5 5", 0},
		{"year 9999", []string{at(1, good), at(2, `"timestamp":"9999-01-01T00:00:00Z",`)}, "5 5", 0},
		{"no time at all", []string{at(1, good), at(2, `"timestamp":"soon",`), at(3, `"timestamp":7,`)}, "5 5 5", 0},
		{"from a line that means nothing", []string{at(1, good), other, at(2, "")}, "5 6", 0},
		{"from another session", []string{at(1, good), strings.Replace(at(2, ""), "s1", "s2", 1)}, "5 5 5", 0},
		{"looking ahead", []string{at(1, ""), at(2, `"timestamp":"9999-01-01T00:00:00Z",`), "{", "[]", at(3, good)}, "5 5 5", 1 + 1},
		{"looking ahead too far", []string{at(1, ""), pad, at(2, ""), at(3, good)}, "5", 2},
		{"nowhere", []string{at(1, ""), at(2, "")}, "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			body := strings.Join(c.lines, "\n")
			captures, bad, p := readAll(t, strings.NewReader(body))
			var got []string
			for _, c := range captures {
				if c.At.Year() != 2026 {
					t.Errorf("%s is of %v", brief(c), c.At)
				}
				got = append(got, fmt.Sprint(c.At.Second()))
			}
			if got := strings.Join(got[min(1, len(got)):], " "); got != c.want || len(bad) != c.bad || p.Offset != int64(len(body)) {
				t.Errorf("got %q, errors %v, %d bytes; want %q, %d errors, all bytes", got, bad, p.Offset, c.want, c.bad)
			}
			again, _, _ := readAll(t, iotest.OneByteReader(strings.NewReader(body)))
			if diff := cmp.Diff(captures, again); diff != "" {
				t.Errorf("read byte by byte:\n%s", diff)
			}
		})
	}
	_, bad, _ := readAll(t, strings.NewReader(at(1, "")))
	var e *FieldError
	if len(bad) != 1 || !errors.As(bad[0], &e) || e.Field != "timestamp" || !errors.Is(e, ErrMissing) {
		t.Errorf("got errors %v, want a FieldError of timestamp", bad)
	}
	_, bad, _ = readAll(t, strings.NewReader(at(1, `"timestamp":"yesterday",`)))
	if len(bad) != 1 || !errors.As(bad[0], &e) || e.Field != "timestamp" || !errors.Is(e, ErrNotTime) {
		t.Errorf("got errors %v of a time that is none, want ErrNotTime", bad)
	}
}

// TestTranscriptForgets: calls that nothing answers cost bounded memory, and so do side chains and sessions.
func TestTranscriptForgets(t *testing.T) {
	t.Parallel()
	var in strings.Builder
	n := maxOpen + 10
	for i := range n {
		fmt.Fprintln(&in, assistant(1, call(fmt.Sprint("t", i), "Read")))
	}
	fmt.Fprintln(&in, result(2, "t9", `"late"`, ""))
	fmt.Fprintln(&in, result(3, fmt.Sprint("t", n-1), `"in time"`, ""))
	captures, bad, p := readAll(t, strings.NewReader(in.String()))
	if last := captures[len(captures)-1]; len(captures) != 2 || brief(last) != "tool Read in time" || len(bad) > 0 {
		t.Errorf("got %d captures, the last %s, errors %v; want the session and one call", len(captures), brief(last), bad)
	}
	if got := p.Skipped[unanswered]; got != 10 {
		t.Errorf("got %d calls counted as %s, want 10", got, unanswered)
	}
}

// TestTranscriptMemory holds what a hostile transcript makes the reader keep to the bounds.
func TestTranscriptMemory(t *testing.T) {
	t.Parallel()
	r := ClaudeCode{}.Transcript(strings.NewReader(""), "/t/s1.jsonl").decoder.(*claudeReader)
	input := strings.Repeat("x", maxOpenBytes/10)
	for i := range 40 {
		block := fmt.Sprintf(`{"type":"tool_use","id":"t%d","name":"Write","input":{"content":%q}}`, i, input)
		if _, err := r.line([]byte(assistant(1, block))); err != nil {
			t.Fatal(err)
		}
	}
	if r.calls.size > maxOpenBytes || r.calls.order.Len() < 5 {
		t.Errorf("got %d calls of %d bytes kept, want some, at most %d bytes", r.calls.order.Len(), r.calls.size, maxOpenBytes)
	}
	for i := range maxRoots + 10 {
		side := fmt.Sprintf(`{"type":"user","isSidechain":true,"sessionId":"s%d","cwd":"/p","uuid":"v%d","timestamp":"2026-01-02T03:04:05Z","message":{"content":"x"}}`, i, i)
		if _, err := r.line([]byte(side)); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.roots.order.Len(); got != maxRoots {
		t.Errorf("got %d lines of side chains kept, want %d", got, maxRoots)
	}
	if got := r.sessions.order.Len(); got != maxSessions {
		t.Errorf("got %d sessions kept, want %d", got, maxSessions)
	}
}
