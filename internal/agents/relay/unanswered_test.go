package relay

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const prompt = `{"hook_event_name":"UserPromptSubmit","prompt":"hi"}`

func TestNoticeAfterThreeUnanswered(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		run := func(agent, payload string, serve func(net.Conn)) (Result, string) {
			var out bytes.Buffer
			cfg := Config{Agent: agent, Home: home, Stdin: strings.NewReader(payload), Stdout: &out}
			if serve != nil {
				cfg.Dial = dialPipe(serve)
			}
			return runTimed(t, cfg), out.String()
		}
		silent := func(what, agent, payload string, serve func(net.Conn)) {
			t.Helper()
			if r, out := run(agent, payload, serve); r.Noticed || out != "" {
				t.Errorf("%s: said %q", what, out)
			}
		}
		told := func(what, want string) {
			t.Helper()
			r, out := run("claude-code", prompt, nil)
			var reply struct{ SystemMessage string }
			if err := json.Unmarshal([]byte(out), &reply); err != nil || !r.Noticed || !strings.Contains(reply.SystemMessage, want) {
				t.Errorf("%s: said %q (%v), want %q", what, out, err, want)
			}
		}
		for range 3 {
			silent("the first three", "claude-code", prompt, nil)
		}
		silent("an event that may not speak", "claude-code", toolUse, nil)
		silent("an agent that may not speak", "codex", prompt, nil)
		told("the next", "until it runs: 6.")
		time.Sleep(noticePause - time.Second)
		silent("within the hour", "claude-code", prompt, nil)
		time.Sleep(time.Second)
		told("after an hour", "until it runs: 8.")
		time.Sleep(2 * noticePause)
		silent("a hanging daemon is unanswered too, but this may not speak", "claude-code", toolUse, hangs)
		silent("any answer ends the row", "claude-code", prompt, answersAfter(0, "HTTP/1.1 503 Busy\r\n\r\n"))
		for range 3 {
			silent("a new row", "claude-code", sessionStart, nil)
		}
		told("a new row of three", "cmemd is not answering")
	})
}

func TestNoticeTellsOfLosses(t *testing.T) {
	t.Parallel()
	var reply struct{ SystemMessage string }
	if err := json.Unmarshal(notice(2, Unanswered{Lost: 5, LostReason: "the \"disk\""}), &reply); err != nil {
		t.Fatal(err)
	}
	if PlainNotice(reply.SystemMessage) == reply.SystemMessage {
		t.Errorf("%q is not marked", reply.SystemMessage)
	}
	for _, want := range []string{"cmemd status", "cmemd logs", "until it runs: 2.", `could not be kept: 5 (the "disk").`} {
		if !strings.Contains(reply.SystemMessage, want) {
			t.Errorf("%q lacks %q", reply.SystemMessage, want)
		}
	}
}

func TestUnansweredRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := Unanswered{
			Count: rapid.IntRange(0, 1<<30).Draw(t, "count"), Lost: rapid.IntRange(0, 1<<30).Draw(t, "lost"), LostReason: rapid.String().Draw(t, "reason"),
		}
		if s := rapid.Int64Range(0, 1<<32).Draw(t, "notice"); s > 0 {
			want.LastNotice = time.Unix(s, 0).UTC()
		}
		data := appendUnanswered(nil, want)
		if !json.Valid(data) {
			t.Fatalf("not JSON: %s", data)
		}
		if diff := cmp.Diff(want, parseUnanswered(data)); diff != "" {
			t.Fatalf("%s: -want +got\n%s", data, diff)
		}
	})
}

func TestDamagedCounterStartsAnew(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "{", `{"count":-4,"lost":"x","last_notice":7}`, `[]`, strings.Repeat("x", maxSmallFile+1)} {
		home := t.TempDir()
		if err := os.MkdirAll(filepath.Join(home, "run"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(unansweredPath(home), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		runHook(t, Config{Home: home, Stdin: strings.NewReader(toolUse)})
		if u, err := ReadUnanswered(home); err != nil || u != (Unanswered{Count: 1}) {
			t.Errorf("after %.20q: %+v, %v; want a count of 1", content, u, err)
		}
	}
}

func TestCountersOfManyHooksAddUp(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	const n = 20
	var wg sync.WaitGroup
	var mu sync.Mutex
	counted := 0
	for range n {
		wg.Go(func() {
			if _, _, err := countUnanswered(home, time.Now(), false); err == nil {
				mu.Lock()
				counted++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if u, err := ReadUnanswered(home); err != nil || u.Count != counted || counted == 0 {
		t.Errorf("count is %d, %v; want %d", u.Count, err, counted)
	}
	if left, _ := filepath.Glob(filepath.Join(home, "run", ".*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func FuzzParseUnanswered(f *testing.F) {
	f.Add([]byte(`{"count":3,"last_notice":"2026-11-20T18:00:00Z","lost":1,"lost_reason":"x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if u := parseUnanswered(data); u.Count < 0 || u.Lost < 0 {
			t.Fatalf("parseUnanswered(%q) = %+v", data, u)
		}
	})
}
