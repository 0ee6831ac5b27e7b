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

	"github.com/cmemd/cmemd/internal/durable"
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
		data := encodeUnanswered(want)
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
	for _, path := range []func(string) string{unansweredPath, slotsPath} {
		t.Run(filepath.Base(path("")), func(t *testing.T) { checkStartsAnew(t, path) })
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

// TestLossesAreWrittenInPlace: where no file can be made or replaced any more, losses and unanswered hooks are counted all the same,
// and go on to be when there is room again.
func TestLossesAreWrittenInPlace(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := LayNotes(home); err != nil {
		t.Fatal(err)
	}
	lose := func(reason string) {
		t.Helper()
		if _, _, err := countUnanswered(home, time.Now(), false); err != nil {
			t.Error(err)
		}
		if err := countLost(home, errors.New(reason)); err != nil {
			t.Error(err)
		}
	}
	want := func(when string, count, lost int, reason string) {
		t.Helper()
		if u, err := ReadUnanswered(home); err != nil && !durable.IsUnfit(err) || u.Count != count || u.Lost != lost || !strings.HasPrefix(u.LostReason, reason) {
			t.Errorf("%s: got %+v, %v; want %d unanswered and %d lost because %q", when, u, err, count, lost, reason)
		}
	}
	lose("too long")
	before, err := os.Stat(slotsPath(home))
	if err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(unansweredPath(home), "nothing can be renamed onto a folder that holds something")
	if err := errors.Join(os.Rename(unansweredPath(home), unansweredPath(home)+".kept"), os.MkdirAll(full, 0o700)); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		lose(strings.Repeat("no space left on \"the\" device\n", 40*i))
	}
	want("without room", 5, 5, "no space left on \"the\" device\n")
	after, err := os.Stat(slotsPath(home))
	if err != nil || !os.SameFile(before, after) || after.Size() != before.Size() {
		t.Errorf("the slots are another file, or have grown from %d to %d bytes (%v)", before.Size(), after.Size(), err)
	}
	if err := errors.Join(os.RemoveAll(unansweredPath(home)), os.Rename(unansweredPath(home)+".kept", unansweredPath(home))); err != nil {
		t.Fatal(err)
	}
	want("with room again", 6, 6, "no space left")
	lose("once more")
	want("and once more", 7, 7, "no space left")
	if err := errors.Join(clearUnanswered(home), LayNotes(home)); err != nil {
		t.Error(err)
	}
	want("answered", 0, 7, "no space left")
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
