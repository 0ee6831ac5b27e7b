package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/agents/watch"
	"github.com/cmemd/cmemd/internal/api/client"
)

const geminiSession = "00000000-0000-4000-8000-00000000000a"

// followingGemini opens a daemon that follows a folder of chats.
func followingGemini(t *testing.T) (d *daemon, ctx context.Context, chats string) {
	t.Helper()
	p, l := clitest.TempHome(t)
	chats = filepath.Join(t.TempDir(), "tmp", "repo", "chats")
	l.Watch = []string{"gemini-cli=" + chats}
	ctx, stop := context.WithCancelCause(t.Context())
	d, err := openDaemon(ctx, l, p, slog.New(slog.DiscardHandler), "test", stop)
	if err != nil {
		t.Fatal(err)
	}
	return d, ctx, chats
}

// chatLines is a chat as Gemini CLI writes it: a prompt, a call that is written again when it has ended, an answer, and the
// next prompt.
func chatLines(at time.Time) []string {
	line := func(second int, rest string) string {
		return fmt.Sprintf(`{"timestamp":%q,%s}`+"\n", at.Add(time.Duration(second)*time.Second).UTC().Format(time.RFC3339Nano), rest)
	}
	const call = `"type":"gemini","id":"g1","content":"","toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"ls"},"status":%q,` +
		`"result":[{"functionResponse":{"response":{"output":"shop.go"}}}]}]`
	return []string{
		fmt.Sprintf(`{"sessionId":%q,"projectHash":"h","startTime":%q,"kind":"main","directories":["/src/shop"]}`+"\n", geminiSession, at.UTC().Format(time.RFC3339Nano)),
		line(1, `"type":"user","id":"u1","content":[{"text":"look around"}]`),
		line(2, fmt.Sprintf(call, "executing")),
		line(3, fmt.Sprintf(call, "success")),
		line(4, `"type":"gemini","id":"g2","content":"A shop."`),
		line(5, `"type":"user","id":"u2","content":[{"text":"and the till"}]`),
	}
}

// kindsOf counts what is on record of the chat's session.
func kindsOf(t *testing.T, d *daemon) map[events.Kind]int {
	t.Helper()
	got := map[events.Kind]int{}
	for r, err := range d.log.Stream(t.Context(), events.SessionIDOf("gemini-cli", geminiSession).Stream(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		switch r.Kind {
		case events.KindSessionOpened, events.KindPromptSubmitted, events.KindToolUsed, events.KindAgentStopped:
			got[r.Kind]++
		}
	}
	return got
}

// awaitRead waits until the only chat that is followed was read as far as to a number of lines.
func awaitRead(t *testing.T, d *daemon, lines int) {
	t.Helper()
	for limit := time.Now().Add(clitest.Timeout); ; time.Sleep(10 * time.Millisecond) {
		s, err := watch.Load(d.paths.Watch)
		if err == nil && len(s.Files) == 1 && s.Files[0].Lines == lines {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("got %+v, %v; want a chat of which %d lines are read", s.Files, err, lines)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFollowedChats: a chat of Gemini CLI that grows is taken in as it grows, each call once, however often its record is
// written again.
func TestFollowedChats(t *testing.T) {
	t.Parallel()
	d, ctx, chats := followingGemini(t)
	lines := chatLines(time.Now().Add(-time.Minute))
	path := filepath.Join(chats, "session-1.jsonl")
	write(t, path, strings.Join(lines[:3], ""))
	ended := serving(t, ctx, d)
	awaitRead(t, d, 3)
	if got := kindsOf(t, d); got[events.KindPromptSubmitted] != 1 || got[events.KindToolUsed] != 0 {
		t.Errorf("before the call ended: got %v", got)
	}
	write(t, path, strings.Join(lines[3:], ""))
	awaitRead(t, d, 6)
	want := map[events.Kind]int{events.KindSessionOpened: 1, events.KindPromptSubmitted: 2, events.KindToolUsed: 1, events.KindAgentStopped: 1}
	if diff := cmp.Diff(want, kindsOf(t, d)); diff != "" {
		t.Errorf("on record (-want +got):\n%s", diff)
	}
	d.stop(endRequest("a test"))
	if err := waitEnd(t, ended); err != nil {
		t.Error(err)
	}
}

// TestSpoolBeforeChats: the daemon starts with views that are behind, hooks in the spool, and a chat of the same session. What
// the hooks tell of is recorded once: nothing but their record says what the chat repeats.
func TestSpoolBeforeChats(t *testing.T) {
	t.Parallel()
	d, ctx, chats := followingGemini(t)
	at := time.Now().Add(-time.Minute)
	for i, payload := range []string{
		`"hook_event_name":"SessionStart","source":"startup"`,
		`"hook_event_name":"BeforeAgent","prompt":"look around"`,
		`"hook_event_name":"AfterTool","tool_name":"run_shell_command","tool_input":{"command":"ls"},"tool_response":{"llmContent":"shop.go"}`,
		`"hook_event_name":"AfterAgent","prompt":"look around","prompt_response":"A shop."`,
		`"hook_event_name":"BeforeAgent","prompt":"and the till"`,
	} {
		body := fmt.Sprintf(`{"session_id":%q,"cwd":"/src/shop",%s}`, geminiSession, payload)
		entry := spool.Entry{
			Agent: "gemini-cli", Delivery: uuid.Must(uuid.NewV7()).String(), OccurredAt: at.Add(time.Duration(i) * time.Second), Body: []byte(body),
		}
		if _, err := spool.New(d.paths.Home).Put(entry); err != nil {
			t.Fatal(err)
		}
	}
	lines := chatLines(at.Add(time.Second))
	write(t, filepath.Join(chats, "session-1.jsonl"), strings.Join(lines, ""))
	const behind = 5
	d.begun += behind // the views wait for records that are not there yet
	ended := make(chan error, 1)
	go func() { ended <- d.run(ctx, homedir.ThisProcess()) }()
	client := client.Dial(d.paths.Home)
	defer client.Close()
	awaitPhase(t, ctx, client, "views")
	time.Sleep(1500 * time.Millisecond) // in which a watcher would have read the chat
	if got := kindsOf(t, d); len(got) > 0 {
		t.Errorf("before the spool was looked at: got %v", got)
	}
	for i := range behind {
		payload := fmt.Appendf(nil, `{"session_id":"s%d","cwd":"/w","hook_event_name":"UserPromptSubmit","prompt":"go"}`, i)
		if _, err := client.Hook(ctx, "claude-code", payload, events.ID{}, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	awaitReady(t, ctx, d)
	awaitRead(t, d, len(lines))
	want := map[events.Kind]int{events.KindSessionOpened: 1, events.KindPromptSubmitted: 2, events.KindToolUsed: 1, events.KindAgentStopped: 1}
	if diff := cmp.Diff(want, kindsOf(t, d)); diff != "" {
		t.Errorf("on record (-want +got):\n%s", diff)
	}
	d.stop(endRequest("a test"))
	if err := waitEnd(t, ended); err != nil {
		t.Error(err)
	}
}

// TestChatsOfALogPutBack: a backup of the log is put in the place of one that has more. What was followed and does not grow is read
// again, and what the backup has is not recorded twice.
func TestChatsOfALogPutBack(t *testing.T) {
	t.Parallel()
	d, ctx, chats := followingGemini(t)
	lines := chatLines(time.Now().Add(-time.Minute))
	path, backup := filepath.Join(chats, "session-1.jsonl"), filepath.Join(t.TempDir(), "backup")
	write(t, path, strings.Join(lines[:3], ""))
	ended := serving(t, ctx, d)
	awaitRead(t, d, 3)
	if err := d.log.Backup(ctx, backup); err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Join(lines[3:], ""))
	awaitRead(t, d, 6)
	want := kindsOf(t, d)
	d.stop(endRequest("a test"))
	if err := waitEnd(t, ended); err != nil {
		t.Fatal(err)
	}
	state, err := watch.Load(d.paths.Watch)
	if err != nil {
		t.Fatal(err)
	}
	state.Files[0].Rested = true // as after half a minute: it is not read again for that
	text, err := json.Marshal(state)
	if err := errors.Join(err, os.WriteFile(d.paths.Watch, text, 0o600), os.Rename(backup, d.paths.Log)); err != nil {
		t.Fatal(err)
	}
	again, stop := context.WithCancelCause(t.Context())
	d, err = openDaemon(again, d.config, d.paths, slog.New(slog.DiscardHandler), "test", stop)
	if err != nil {
		t.Fatal(err)
	}
	ended = serving(t, again, d)
	for limit := time.Now().Add(clitest.Timeout); !cmp.Equal(want, kindsOf(t, d)); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("on record (-want +got):\n%s", cmp.Diff(want, kindsOf(t, d)))
		}
	}
	d.stop(endRequest("a test"))
	if err := waitEnd(t, ended); err != nil {
		t.Error(err)
	}
}
