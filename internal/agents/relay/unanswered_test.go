package relay

import (
	"bytes"
	"encoding/json"
	"errors"
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
	for name, path := range map[string]func(string) string{"notes": notesPath, "of earlier releases": formerPath} {
		t.Run(name, func(t *testing.T) { checkStartsAnew(t, path) })
	}
}

func checkStartsAnew(t *testing.T, path func(home string) string) {
	t.Helper()
	for _, content := range []string{"", "{", `{"count":-4,"lost":"x","last_notice":7}`, `[]`, strings.Repeat("x", maxSmallFile+1)} {
		home := t.TempDir()
		if err := os.MkdirAll(filepath.Join(home, "run"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path(home), []byte(content), 0o600); err != nil {
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

// TestNotesAreWrittenInPlace: where no file can be made or grown any more, what is lost is counted all the same.
func TestNotesAreWrittenInPlace(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := LayNotes(home); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(notesPath(home))
	if err != nil {
		t.Fatal(err)
	}
	const losses = 5
	for i := range losses {
		if err := countLost(home, errors.New(strings.Repeat("no space left on \"the\" device\n", 40*i))); err != nil {
			t.Fatal(err)
		}
	}
	u, err := ReadUnanswered(home)
	if err != nil || u.Lost != losses || !strings.HasPrefix(u.LostReason, "no space left on \"the\" device\n") {
		t.Errorf("got %+v, %v; want %d losses", u, err, losses)
	}
	after, err := os.Stat(notesPath(home))
	if err != nil || !os.SameFile(before, after) || after.Size() != before.Size() {
		t.Errorf("the file is another one, or has grown from %d to %d bytes (%v)", before.Size(), after.Size(), err)
	}
	if err := LayNotes(home); err != nil {
		t.Fatal(err)
	}
	if again, err := ReadUnanswered(home); err != nil || again != u {
		t.Errorf("laid again: %+v, %v", again, err)
	}
}

// TestNotesOfEarlierReleases go on where those have ended.
func TestNotesOfEarlierReleases(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(formerPath(home), []byte(`{"count":4,"last_notice":"","lost":2,"lost_reason":"disk"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for want := 2; want < 5; want++ {
		if u, err := ReadUnanswered(home); err != nil || u.Lost != want || u.Count != 4 {
			t.Errorf("got %+v, %v; want %d lost", u, err, want)
		}
		if err := countLost(home, errors.New("again")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSlotsSurviveACut: of a note that was written in part, or whose slot was damaged, the one before it is left.
func TestSlotsSurviveACut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notes")
	var s slots
	for i := range 4 {
		before := s
		if err := s.write(path, []byte(strings.Repeat("x", i)), false); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if s = parseSlots(whole); s.number != uint64(i+1) || string(s.text) != strings.Repeat("x", i) {
			t.Fatalf("read back as %+v", s)
		}
		place := int(s.number%2) * slotSize
		for at := range slotHead + len(s.text) + 1 {
			damaged := bytes.Clone(whole)
			damaged[place+at] ^= 1
			if got := parseSlots(damaged); got.number != before.number || string(got.text) != string(before.text) {
				t.Errorf("byte %d of note %d: read as %+v, want %+v", at, s.number, got, before)
			}
		}
	}
	if got := parseSlots(nil); got.number != 0 {
		t.Errorf("nothing is read as %+v", got)
	}
}

func FuzzParseSlots(f *testing.F) {
	f.Add(append(append(slotLine(7, []byte(`{"lost":1}`)), '\n'), make([]byte, 2*slotSize)...)[:2*slotSize])
	f.Fuzz(func(t *testing.T, data []byte) {
		if s := parseSlots(data); s.number == 0 && s.text != nil || len(s.text) > maxSlot {
			t.Fatalf("parseSlots(%q) = %+v", data, s)
		}
	})
}
