package operate

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/projections/outcomes"
)

func TestVerdictText(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.Local)
	then := func(v events.Verdict) events.Claim {
		return events.Claim{Kind: "commit", Value: "abcdef1", Verdict: v, Evidence: "seen"}
	}
	for _, c := range []struct {
		v    api.Verdict
		want string
	}{
		{api.Verdict{Claim: then(events.Verified), Now: events.Verified}, "commit abcdef1: verified (seen)"},
		{api.Verdict{Claim: then(events.Verified), Now: events.Absent, CheckedAt: at, Verified: true},
			"commit abcdef1: verified (seen) then, absent now (rebased?), as of 2026-03-01 09:00"},
		{api.Verdict{Claim: then(events.Absent), Now: events.Verified, Evidence: "whole", CheckedAt: at, Verified: true},
			"commit abcdef1: absent (seen) then, verified (whole) now, as of 2026-03-01 09:00"},
		{api.Verdict{Claim: then(events.Unknown), Now: events.Absent, CheckedAt: at},
			"commit abcdef1: unknown (seen) then, absent now, as of 2026-03-01 09:00"},
	} {
		if got := terminal.VerdictText(c.v); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestWhatIsSaidOfAskingAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		done api.Reobserved
		want string // on standard output
		err  string
	}{
		{api.Reobserved{Inputs: 1}, "1 input asked for again\n", ""},
		{api.Reobserved{Inputs: 3, Answers: &api.Answers{Observed: 2, Skipped: 1}}, "3 inputs asked for again: 2 observed, 1 skipped\n", ""},
		{api.Reobserved{Inputs: 3, Answers: &api.Answers{Observed: 1, Blank: 2}},
			"3 inputs asked for again: 1 observed, 0 skipped, 2 blank (skipped; what was there before stands)\n", ""},
		{api.Reobserved{Inputs: 3, Answers: &api.Answers{Dropped: 1, Waiting: 2}, Stopped: []string{"x is paused"}},
			"3 inputs asked for again: 0 observed, 0 skipped, 1 came to nothing again, 2 not answered yet\n", "the rest has to wait: x is paused"},
		{api.Reobserved{Refused: []api.RefusedSession{{Detail: "parked"}}}, "0 inputs asked for again\n", "1 session took no request"},
	} {
		a, out, _ := clitest.App()
		err := showReobserved(a, c.done)
		if out.String() != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%+v: got %q and %v, want %q and %q", c.done, out, err, c.want, c.err)
		}
	}
	line := planLine(api.Reobserved{Inputs: 2, Sessions: 1, Turns: 1, Bytes: 2000, Tokens: 500, Asked: 3, More: true})
	for _, want := range []string{"2 inputs of 1 session, in about 1 turn: 2.0 kB, about 500 tokens", "3 more were asked for before", "run it again"} {
		if !strings.Contains(line, want) {
			t.Errorf("the plan %q does not say %q", line, want)
		}
	}
}

// TestCutWhileItIsWaitedFor has a daemon die before and after it recorded what was asked for.
func TestCutWhileItIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sent, says, next string }{
		{"", "the daemon's answer ended early", "then try again"},
		{"event: progress\ndata: {\"done\":1,\"total\":3}\n\n", "nobody waits for the answers any more", "is on record and need not be asked for again"},
	} {
		daemon := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte(c.sent))
		}))
		defer daemon.Close()
		client := client.DialTCP(daemon.Listener.Addr().String(), "token")
		defer client.Close()
		a, _, _ := clitest.App()
		err := awaitReobserved(t.Context(), a, client, api.ReobserveRequest{Dropped: true}, 3)
		if err == nil || !strings.Contains(terminal.Describe(err), c.says) || !strings.Contains(terminal.NextStep(err), c.next) || terminal.ExitCode(err) != terminal.ExitFailure {
			t.Errorf("after %q: got %v, next %q", c.sent, err, terminal.NextStep(err))
		}
	}
}

// TestInterruptedSaysWhatIsLeft has somebody go while three inputs are not answered yet.
func TestInterruptedSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	for json, want := range map[bool]string{false: "the daemon goes on: 3 inputs still", true: `"reobserve": 3`} {
		ctx, interrupt := context.WithCancel(t.Context())
		mux := http.NewServeMux()
		mux.HandleFunc("POST /v1/reobserve", func(http.ResponseWriter, *http.Request) { interrupt() })
		mux.HandleFunc("GET /v1/status", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"inputs":{"captured":3,"dropped":3,"reobserve":3}}`))
		})
		daemon := httptest.NewServer(mux)
		defer daemon.Close()
		client := client.DialTCP(daemon.Listener.Addr().String(), "token")
		defer client.Close()
		a, out, errs := clitest.App()
		a.JSON = json
		if err := awaitReobserved(ctx, a, client, api.ReobserveRequest{Dropped: true}, 3); err != nil || !strings.Contains(out.String()+errs.String(), want) {
			t.Errorf("json %t: got %q, %q, %v, want %q", json, out, errs, err, want)
		}
	}
}

// TestGivenUpWithoutATurn lists an input that no turn settled.
func TestGivenUpWithoutATurn(t *testing.T) {
	t.Parallel()
	a, out, _ := clitest.App()
	in := api.Input{Position: 7, Session: events.SessionIDOf("codex", "s"), Kind: events.KindToolUsed, Outcome: outcomes.Dropped, Reason: string(events.DropCrowded)}
	if err := showOutcomes(a, api.Outcomes{Inputs: []api.Input{in}}); err != nil {
		t.Fatal(err)
	}
	if row := strings.TrimSpace(out.String()); !strings.Contains(row, "crowded") || strings.Contains(row, events.ID{}.String()) {
		t.Errorf("got %q, want no turn named", row)
	}
}

// TestVerifiedIsToldApart has the log be whole, be damaged, not add up, and views be wrong.
func TestVerifiedIsToldApart(t *testing.T) {
	t.Parallel()
	b := &session.Balance{Captured: 2, Dropped: 2}
	for _, c := range []struct {
		name      string
		v         api.Verified
		out       string
		err, next string
	}{
		{"whole", api.Verified{OK: true, Records: 7, Balance: b},
			"the log is whole: 7 records checked\nbalance: 2 captured = 0 observed + 0 skipped + 2 dropped + 0 pending + 0 forgotten\n", "", ""},
		{"unchecked", api.Verified{OK: true, Records: 1, Unchecked: "the views"}, "the log is whole: 1 record checked\nnot checked: the views\n", "", ""},
		{"damaged", api.Verified{Position: 4, Stream: "daemon", Reason: "chain"}, "", "the log is damaged at position 4 (daemon): chain", "put a backup in its place"},
		{"damaged, of no known stream", api.Verified{Position: 52, Reason: "cut"}, "", "the log is damaged at position 52: cut", "put a backup in its place"},
		{"damaged, no record", api.Verified{Reason: "no page"}, "", "the log is damaged in its file: no page", "put a backup in its place"},
		{"views", api.Verified{Records: 7, Discrepancies: []api.Discrepancy{{In: api.InViews, Problem: "p"}}},
			"the log is whole: 7 records checked\n  all sessions together: p: ", "the balance does not add up at 1 place", "projections rebuild outcomes"},
		{"log", api.Verified{Records: 7, More: 2, Discrepancies: []api.Discrepancy{{In: api.InViews}, {In: api.InLog, Position: 5, Problem: "p"}}},
			"and 2 more", "the balance does not add up at 4 places", "report this"},
	} {
		a, out, _ := clitest.App()
		err := showVerified(a, c.v)
		if !strings.Contains(out.String(), c.out) || (err == nil) != (c.err == "") {
			t.Errorf("%s: got %q, %v", c.name, out, err)
		}
		if err != nil && (err.Error() != c.err || !strings.Contains(terminal.NextStep(err), c.next) || terminal.ExitCode(err) != terminal.ExitFailure) {
			t.Errorf("%s: got %v, next %q", c.name, err, terminal.NextStep(err))
		}
	}
}

func TestRecheckFindsNothing(t *testing.T) {
	t.Parallel()
	a, _, _ := clitest.App()
	if err := showRechecked(a, api.Rechecked{}); !errors.Is(err, terminal.ErrNothing) {
		t.Errorf("no claims at all: got %v", err)
	}
	err := showRechecked(a, api.Rechecked{Rows: 1, Refused: []api.RefusedSession{{Detail: "parked"}}})
	if err == nil || terminal.ExitCode(err) != terminal.ExitFailure {
		t.Errorf("a session that could not record it: got %v", err)
	}
}
