package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/providers"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/projections/health"
	"github.com/cmemd/cmemd/testkit/providertest"
)

const (
	noticeCanary  = "canary-8d1f"             // the model that is not well: it is named in all that is told of it
	fenceCanary   = "the heron nests at dusk" // of what the session is given
	controlCanary = "marmalade"               // stands beside the others and must come through
)

// TestNoNewsOfTheObserverReachesIt: a daemon that is not well in every way tells a person so as a session starts, and gives
// the agent memory. Both come back by every way there is; neither is in any prompt.
func TestNoNewsOfTheObserverReachesIt(t *testing.T) {
	t.Parallel()
	d, ctx := openTemp(t)
	script := providertest.NewScripted(func(_ context.Context, call int, p observer.Prompt) (observer.Reply, error) {
		text := "<observation><title>nothing of note</title></observation>"
		if call == 1 {
			text = "<observation><title>" + fenceCanary + "</title></observation>"
		}
		if p.Kind == events.TurnSummary {
			text = "<summary><request>look at birds</request></summary>"
		}
		return observer.Reply{Text: events.NewOutput(text), Form: events.FormXML}, nil
	})
	one := &providers.Built{Provider: script}
	d.offers = &providerSet{order: []*providers.Built{one}, all: []*providers.Built{one}}
	if err := d.assemble(strings.Repeat("t", homedir.TokenBytes), "test"); err != nil {
		t.Fatal(err)
	}
	ended := serving(t, ctx, d)
	client := client.Dial(d.paths.Home)
	defer client.Close()
	b := &leakBench{t: t, d: d, client: client, cwd: gitFolder(t)}

	b.hook("SessionStart", "first", map[string]any{"source": "startup"})
	b.hook("PostToolUse", "first", bash("watch", "a heron"))
	b.hook("Stop", "first", map[string]any{"last_assistant_message": "seen"})
	b.settled(ctx)
	sicken(t, d)
	b.settled(ctx)

	notice, fence := b.start()
	before := script.Calls()
	b.sendBack(ctx, notice, fence)
	b.settled(ctx)

	control := false
	for _, p := range script.Prompts()[before:] {
		text := promptText(t, p)
		for _, leak := range []string{noticeCanary, fenceCanary, "cmemd-notice", "could not be used", "cmemd-context"} {
			if i := strings.Index(text, leak); i >= 0 {
				t.Errorf("%q is in a prompt: ...%s...", leak, text[max(0, i-150):min(len(text), i+150)])
			}
		}
		control = control || strings.Contains(text, controlCanary)
	}
	if !control || script.Calls() < before+3 {
		t.Errorf("%d prompts; what stood beside the canaries came through: %t", script.Calls()-before, control)
	}
	d.stop(endRequest("a test"))
	if err := waitEnd(t, ended); err != nil {
		t.Error(err)
	}
}

// promptText is everything that a prompt holds.
func promptText(t *testing.T, p observer.Prompt) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gitFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	return dir
}

// sicken writes down of another provider all that can be not well. The one that is asked is well, so that it is asked.
func sicken(t *testing.T, d *daemon) {
	t.Helper()
	say := func(to events.StreamID, turn events.ID, evs ...events.Event) {
		var drafts []events.Draft
		for _, e := range evs {
			drafts = append(drafts, events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: time.Now(), Correlation: turn, Event: e})
		}
		if _, err := eventlog.AppendEnd(t.Context(), d.log, to, drafts...); err != nil {
			t.Fatal(err)
		}
	}
	stream := events.SessionIDOf("claude-code", "sick").Stream()
	say(stream, events.ID{}, events.SessionOpened{Agent: "claude-code", AgentSession: "sick", Cwd: "/sick"})
	turn := func(end ...events.Event) {
		id := uuid.Must(uuid.NewV7())
		say(stream, id, events.TurnStarted{Turn: id, Provider: noticeCanary, Model: noticeCanary, Notable: 1})
		say(stream, id, end...)
	}
	for range health.DegradedUnusable {
		turn(events.TurnReceived{}, events.OutputDropped{Class: "prose", Reason: "no_xml", Preview: events.NewOutput(noticeCanary)})
	}
	for range health.DegradedBlank {
		turn(events.TurnReceived{}, events.OutputSkipped{Reason: events.ReasonEmpty, Stated: events.NewOutput(noticeCanary)})
	}
	turn(events.TurnFailed{Class: events.FailCrash, Message: noticeCanary}, events.SessionQuarantined{Cause: noticeCanary, Trip: 1, Until: time.Now().Add(time.Hour)})
	say(events.ProviderStream(noticeCanary), events.ID{}, events.ProviderPaused{Class: events.FailLimit, Probe: 1, Until: time.Now().Add(time.Hour)})
	say(events.Daemon, events.ID{}, events.DaemonDegraded{Why: noticeCanary})
}

// leakBench plays an agent.
type leakBench struct {
	t      *testing.T
	d      *daemon
	client *client.Client
	cwd    string
	uses   int
}

func (b *leakBench) hook(event, session string, more map[string]any) []byte {
	b.t.Helper()
	more["session_id"], more["cwd"], more["hook_event_name"] = session, b.cwd, event
	if _, ok := more["tool_name"]; ok {
		b.uses++
		more["tool_use_id"] = fmt.Sprint("toolu_", b.uses)
	}
	payload, err := json.Marshal(more)
	if err != nil {
		b.t.Fatal(err)
	}
	reply, err := b.client.Hook(b.t.Context(), "claude-code", payload, uuid.Must(uuid.NewV7()), time.Now())
	if err != nil {
		b.t.Fatalf("%s: %v", event, err)
	}
	return reply
}

func bash(command, output string) map[string]any {
	return map[string]any{
		"tool_name": "Bash", "tool_input": map[string]any{"command": command},
		"tool_response": map[string]any{"stdout": output, "stderr": "", "interrupted": false},
	}
}

// settled waits until nothing is owed and the views know all.
func (b *leakBench) settled(ctx context.Context) {
	b.t.Helper()
	for limit := time.Now().Add(clitest.Timeout); ; time.Sleep(5 * time.Millisecond) {
		last, err := b.d.log.Last(ctx)
		if err = errors.Join(err, b.d.views.Wait(ctx, last), b.d.index.Wait(ctx, last)); err != nil {
			b.t.Fatal(err)
		}
		balance, err := b.d.views.Balance(ctx)
		if err != nil {
			b.t.Fatal(err)
		}
		if again, _ := b.d.log.Last(ctx); balance.Pending == 0 && again == last {
			return
		}
		if time.Now().After(limit) {
			b.t.Fatalf("never settled: %+v", balance)
		}
	}
}

// start begins the session that is told everything.
func (b *leakBench) start() (notice, fence string) {
	b.t.Helper()
	var reply struct {
		SystemMessage      string
		HookSpecificOutput struct{ AdditionalContext string }
	}
	raw := b.hook("SessionStart", "told", map[string]any{"source": "startup"})
	if err := json.Unmarshal(raw, &reply); err != nil {
		b.t.Fatalf("%s: %v", raw, err)
	}
	notice, fence = reply.SystemMessage, reply.HookSpecificOutput.AdditionalContext
	if !strings.HasPrefix(notice, relay.NoticeOpen) || !strings.Contains(notice, "only captures") {
		b.t.Fatalf("the person was told %q", notice)
	}
	if !strings.HasPrefix(fence, agents.ContextOpen) || !strings.Contains(fence, fenceCanary) {
		b.t.Fatalf("the agent was told %q", fence)
	}
	return notice, fence
}

// sendBack has the agent and its user say, by every way there is, what they were told.
func (b *leakBench) sendBack(ctx context.Context, notice, fence string) {
	b.t.Helper()
	st, err := api.StatusRoute.Call(ctx, b.client, api.NoQuery{})
	if err != nil || len(st.Findings) < 5 {
		b.t.Fatalf("got %d findings, %v; want all kinds", len(st.Findings), err)
	}
	told := []string{notice, fence, b.wrapped(notice), strings.ReplaceAll(fence, "\n", "\r\n")}
	for _, f := range st.Findings {
		if !strings.Contains(f.Says, noticeCanary) && f.What != health.FindCaptureOnly {
			b.t.Errorf("the canary is not in %q", f.Says)
		}
		told = append(told, f.Says, f.Do)
	}
	all := controlCanary + "\n" + strings.Join(told, "\n")
	asJSON, err := json.Marshal(map[string]any{"systemMessage": notice, "additionalContext": fence, "all": told})
	if err != nil {
		b.t.Fatal(err)
	}
	cut := notice[:len(notice)/2]
	b.hook("UserPromptSubmit", "told", map[string]any{"prompt": "What does this mean? " + all, "prompt_id": "p1"})
	b.hook("PostToolUse", "told", bash("echo '"+notice+"'; cat /tmp/t.jsonl", all))
	b.hook("PostToolUse", "told", bash("grep -c cmemd transcript.jsonl", string(asJSON)))
	b.hook("PostToolUse", "told", bash("cat twice.json", string(asJSON)+"\n"+fmt.Sprintf("%q", asJSON)))
	b.hook("PostToolUse", "told", bash("head -c 300 t", controlCanary+"\n"+cut))
	b.hook("PostToolUse", "told", map[string]any{
		"tool_name": "Read", "tool_input": map[string]any{"file_path": "/tmp/t.jsonl"},
		"tool_response": map[string]any{"type": "text", "file": map[string]any{"filePath": "/tmp/t.jsonl", "content": all}},
	})
	b.hook("PostToolUse", "told", map[string]any{
		"tool_name": "Write", "tool_input": map[string]any{"file_path": "/tmp/notes.md", "content": all}, "tool_response": map[string]any{"content": all},
	})
	b.hook("PostToolUse", "told", map[string]any{"tool_name": "mcp__other__ask", "tool_input": map[string]any{"q": all}, "tool_response": string(asJSON)})
	b.hook("PostToolUseFailure", "told", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "x"}, "error": all})
	b.hook("SubagentStop", "told", map[string]any{"agent_id": "a1", "agent_type": "explorer", "last_assistant_message": all})
	b.hook("Stop", "told", map[string]any{"last_assistant_message": all, "prompt_id": "p1"})
	b.hook("PostCompact", "told", map[string]any{"trigger": "auto", "compact_summary": "<summary>" + all + "</summary>"})
	b.ingest(ctx, all, asJSON)
}

// wrapped is text as a terminal shows it: in narrow lines with a border.
func (b *leakBench) wrapped(text string) string {
	var lines []string
	for words, line := strings.Fields(text), ""; len(words) > 0; words = words[1:] {
		if line += words[0] + " "; len(line) > 60 || len(words) == 1 {
			lines = append(lines, "│ "+line+"│")
			line = ""
		}
	}
	return strings.Join(lines, "\n")
}

// ingest sends a transcript in which everything stands too.
func (b *leakBench) ingest(ctx context.Context, all string, asJSON []byte) {
	b.t.Helper()
	var text bytes.Buffer
	at := time.Now().Add(-time.Hour)
	line := func(kind string, more map[string]any) {
		at = at.Add(time.Second)
		more["type"], more["sessionId"], more["cwd"], more["uuid"] = kind, "written", b.cwd, uuid.NewString()
		more["timestamp"] = at.UTC().Format(time.RFC3339Nano)
		if err := json.NewEncoder(&text).Encode(more); err != nil {
			b.t.Fatal(err)
		}
	}
	message := func(role string, content any) map[string]any { return map[string]any{"role": role, "content": content} }
	line("system", map[string]any{"subtype": "informational", "content": all})
	line("attachment", map[string]any{"attachment": map[string]any{"type": "hook_success", "hookEvent": "SessionStart", "stdout": string(asJSON), "content": all}})
	line("user", map[string]any{"message": message("user", all)})
	line("assistant", map[string]any{"message": message("assistant", []any{
		map[string]any{"type": "text", "text": all}, map[string]any{"type": "tool_use", "id": "t1", "name": "Bash", "input": map[string]any{"command": all}},
	})})
	line("user", map[string]any{"message": message("user", []any{map[string]any{"type": "tool_result", "tool_use_id": "t1", "content": string(asJSON)}})})
	line("assistant", map[string]any{"message": message("assistant", []any{map[string]any{"type": "text", "text": all}})})
	got, err := b.client.Ingest(ctx, "claude-code", filepath.Join(b.cwd, "written.jsonl"), &text)
	if err != nil || got.Malformed > 0 || got.Captured < 3 {
		b.t.Fatalf("ingest: got %+v, %v", got, err)
	}
}
