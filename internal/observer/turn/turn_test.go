package turn_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/internal/observer/turn"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// absent is a Checker that knows no commit.
type absent struct{}

func (absent) Check(_ context.Context, _ string, hashes []string) (claims []events.Claim) {
	for _, h := range hashes {
		claims = append(claims, events.Claim{Kind: "commit", Value: h, Verdict: events.Absent})
	}
	return claims
}

func (absent) Origins(context.Context, string, []string) evidence.Origin { return evidence.Origin{} }

// Foreign takes what was fetched last alone for others'.
func (absent) Foreign(_ context.Context, _ string, all []evidence.Revisions) (foreign, known bool) {
	return slices.ContainsFunc(all, func(r evidence.Revisions) bool { return slices.Contains(r.Names, "FETCH_HEAD") }), true
}

// logged returns a log of the given events, in one session.
func logged(t *testing.T, all ...events.Event) (log *eventlog.Bolt, at []events.Position) {
	t.Helper()
	log = logtest.Open(t, eventlog.Config{})
	var drafts []events.Draft
	for i, e := range all {
		drafts = append(drafts, events.Draft{ID: events.ID(uuid.Must(uuid.NewV7())), OccurredAt: time.Unix(int64(1000+i), 0), Event: e})
	}
	records, err := eventlog.AppendEnd(t.Context(), log, events.SessionIDOf("a", "b").Stream(), drafts...)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		at = append(at, r.Position)
	}
	return log, at
}

// TestLoadPassesOverWhatIsForgotten while its words are there still: they are erased a moment after they were forgotten.
func TestLoadPassesOverWhatIsForgotten(t *testing.T) {
	t.Parallel()
	log, at := logged(t,
		events.ToolUsed{Tool: "Edit"}, events.AgentSaid{Text: "forgotten"}, events.AgentSaid{Text: "stays"}, events.AgentStopped{LastMessage: "forgotten too"},
	)
	w := session.Work{Kind: events.TurnObservation, Settles: at[:1], Reads: at[1:], Gone: []events.Position{at[1], at[3]}, Attempt: 1}
	prompt, err := turn.New(turn.Config{Log: log}).Load(t.Context(), turn.Request{Turn: events.ID{1}, Work: w})
	if err != nil {
		t.Fatal(err)
	}
	if len(prompt.Said) != 1 || prompt.Said[0].Text != "stays" || prompt.Message != "" {
		t.Errorf("the prompt holds %+v and %q, want what stays alone", prompt.Said, prompt.Message)
	}
	if !slices.Equal(prompt.Reads, at[1:]) {
		t.Errorf("the prompt says that it reads %v, want %v as is due", prompt.Reads, at[1:])
	}
}

// TestTurn takes one turn from the log to a grounded answer, and to what fails instead.
func TestTurn(t *testing.T) {
	t.Parallel()
	log, at := logged(t,
		events.PromptSubmitted{Text: "Raise the limit"},
		events.ToolUsed{Tool: "Edit", Input: `{"file_path":"/p/a.go","new_string":"x"}`},
	)
	p := turn.New(turn.Config{Log: log, Checker: absent{}})
	prompt, err := p.Load(t.Context(), turn.Request{
		Turn: events.ID{1}, Work: session.Work{Kind: events.TurnObservation, Settles: at[1:], PromptAt: at[0], Attempt: 1},
		Origin: session.Origin{Cwd: "/p"},
	})
	if err != nil || prompt.Request != "Raise the limit" || len(prompt.Inputs) != 1 {
		t.Fatalf("got %+v, %v", prompt, err)
	}
	const cut = "<observation><title>Kept</title></observation><observation>"
	for name, tc := range map[string]struct {
		step           providertest.Step
		title, dropped string
		failed         events.FailureClass
	}{
		"kept":     {step: providertest.Text("<observation><title>Limit raised in ghost.go</title><narrative>Commit 1234567.</narrative></observation>"), title: "Limit raised in ghost.go"},
		"dropped":  {step: providertest.Text("session limit reached"), dropped: events.ReasonNoXML},
		"cut":      {step: providertest.Fail(observer.Failure{Class: events.FailTruncated, Output: events.NewOutput(cut)}), title: "Kept"},
		"refused":  {step: providertest.Fail(observer.Failure{Class: events.FailRefused}), failed: events.FailRefused},
		"too long": {step: providertest.Text(string(make([]byte, turn.MaxOutput+1))), failed: events.FailTruncated},
		"too late": {step: providertest.Hang(), failed: events.FailTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := providertest.NewScripted(tc.step)
			reply, err := turn.Ask(t.Context(), o, prompt, 100*time.Millisecond)
			r, err := p.Result(t.Context(), o, observer.CodeMode().TypeIDs(), prompt, reply, err)
			switch {
			case err != nil:
				t.Fatal(err)
			case tc.failed != "":
				if r.Failed == nil || r.Failed.Class != tc.failed || r.Answer != nil {
					t.Errorf("got %+v, want %s", r, tc.failed)
				}
			case tc.dropped != "":
				if d := r.Answer.Dropped; d == nil || d.Reason != tc.dropped || d.Length != len("session limit reached") {
					t.Errorf("got %+v, want it dropped as %s", d, tc.dropped)
				}
			case len(r.Answer.Observations) != 1 || r.Answer.Observations[0].Title != tc.title:
				t.Errorf("got %+v, want %q", r.Answer.Observations, tc.title)
			case name == "kept":
				o := r.Answer.Observations[0]
				got := []any{o.Unseen, o.FilesModified, o.Claims[0].Verdict, r.Answer.Happened.Unix()}
				if diff := cmp.Diff([]any{true, []string{"/p/a.go"}, events.Absent, int64(1001)}, got); diff != "" {
					t.Errorf("grounded (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestOutside: which inputs of a turn brought in others' words, also where a subagent read them in an earlier turn and answers in this one.
func TestOutside(t *testing.T) {
	t.Parallel()
	by := func(subagent string, u events.ToolUsed) events.ToolUsed {
		u.SubagentID = subagent
		return u
	}
	page := events.ToolUsed{Tool: "WebFetch", Input: `{"url":"https://example.com"}`}
	answer := func(id string) events.ToolUsed {
		return events.ToolUsed{Tool: "Task", Input: `{"prompt":"look","subagent_type":"x"}`, Output: `{"agentId":"` + id + `","content":"done"}`}
	}
	edit := events.ToolUsed{Tool: "Edit", Input: `{"file_path":"/p/a.go","new_string":"x"}`}
	show := func(what string) events.ToolUsed {
		return events.ToolUsed{Tool: "Bash", Input: `{"command":"git show ` + what + `"}`}
	}
	log, at := logged(t,
		by("a1b2", page), by("c3d4", edit), page, // of an earlier turn
		edit, answer("a1b2"), answer("c3d4"), by("a1b2", events.ToolUsed{Tool: "SubagentStop", Output: "done"}), show("FETCH_HEAD:x"), show("main:x"),
	)
	var earlier []session.Sized
	for _, p := range at[:3] {
		earlier = append(earlier, session.Sized{Position: p})
	}
	p := turn.New(turn.Config{Log: log, Checker: absent{}, Now: func() time.Time { return time.Unix(1000, 0) }})
	prompt, err := p.Load(t.Context(), turn.Request{
		Turn: events.ID{1}, Work: session.Work{Kind: events.TurnObservation, Settles: at[3:], Attempt: 1}, Origin: session.Origin{Cwd: "/p"}, Earlier: earlier,
	})
	if err != nil {
		t.Fatal(err)
	}
	o := providertest.NewScripted(providertest.Text("<observation><title>Looked</title></observation>"))
	reply, err := turn.Ask(t.Context(), o, prompt, time.Second)
	r, err := p.Result(t.Context(), o, observer.CodeMode().TypeIDs(), prompt, reply, err)
	if err != nil || r.Answer == nil || len(r.Answer.Observations) != 1 {
		t.Fatalf("got %+v, %v", r, err)
	}
	got := r.Answer.Observations[0]
	if diff := cmp.Diff([]events.Position{at[4], at[6], at[7]}, got.Outside); diff != "" || got.Origin != events.OriginOutside {
		t.Errorf("%s (-want +got):\n%s", got.Origin, diff)
	}
}

// TestCrashSaysWhatWasPaid: an untyped error is no failure of the turn.
func TestCrashSaysWhatWasPaid(t *testing.T) {
	t.Parallel()
	p, boom := turn.New(turn.Config{}), errors.New("boom")
	r, err := p.Result(t.Context(), providertest.NewScripted(), nil, observer.Prompt{}, observer.Reply{Bill: events.Bill{Calls: 2}}, boom)
	if !errors.Is(err, boom) || r.Answer != nil || r.Failed == nil || r.Failed.Calls != 2 || r.Failed.Class != "" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestABudgetIsHalfOfWhatWasSentBefore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ size, limits, cuts, want int }{
		{1000, 0, 0, 0}, {1000, 0, 1, 500}, {1000, 48 << 10, 2, 250}, {1 << 20, 48 << 10, 1, 24 << 10}, {3, 0, 9, 1}, {0, 0, 1, 1},
	} {
		if got := turn.Budget(c.size, c.limits, c.cuts); got != c.want {
			t.Errorf("Budget(%d, %d, %d) = %d, want %d", c.size, c.limits, c.cuts, got, c.want)
		}
	}
}
