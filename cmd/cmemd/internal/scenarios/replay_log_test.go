package scenarios

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// writtenLog makes a home whose log has one session of one turn: its output is text, and the event behind it says that
// it was dropped as prose.
func writtenLog(t *testing.T, text string) (home string) {
	t.Helper()
	home = t.TempDir()
	if err := homedir.PathsOf(home).Make(); err != nil {
		t.Fatal(err)
	}
	log, err := eventlog.Open(homedir.PathsOf(home).Log, eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	id := func() events.ID { return events.ID(uuid.Must(uuid.NewV7())) }
	now := time.Now().Add(-time.Hour)
	origin := session.Origin{Agent: "claude-code", AgentSession: "one", Project: "shop", ProjectRoot: "/shop", Cwd: "/shop"}
	state := new(session.State)
	do := func(cmd session.Command) {
		t.Helper()
		now = now.Add(time.Second)
		drafts, err := session.Decide(state, session.Rules{}, cmd)
		if err != nil {
			t.Fatalf("%s: %v", cmd.Name(), err)
		}
		records, err := log.Append(t.Context(), origin.Session().Stream(), state.Version(), drafts...)
		if err != nil {
			t.Fatal(err)
		}
		session.Apply(state, drafts)
		state.Place(records)
	}
	do(session.Capture{ID: id(), At: now, Origin: origin, Event: events.ToolUsed{Tool: "Edit", Input: `{"file_path":"/shop/cart.go"}`}})
	do(session.Capture{ID: id(), At: now, Origin: origin, Event: events.AgentStopped{Cause: events.StopDone}})
	work := session.Next(state, session.Rules{}, now).Turn
	if work == nil {
		t.Fatal("no turn is due")
	}
	turn := id()
	do(session.StartTurn{Turn: turn, At: now, Work: *work, Provider: "scripted", Model: "m", PromptBytes: 100})
	do(session.Answer{
		ID: id(), At: now, Received: events.TurnReceived{Turn: turn, Form: events.FormXML, Output: events.NewOutput(text)},
		Dropped: &events.OutputDropped{Turn: turn, Class: "prose", Reason: "no_xml", Preview: events.NewOutput("…"), Length: len(text)},
	})
	return home
}

// replayedAt is replayed in a home.
func replayedAt(t *testing.T, home string, args ...string) (string, error) {
	t.Helper()
	a, out, _ := clitest.AppAt(home)
	a.Now = time.Now
	root := replayRoot(a)
	root.SetArgs(append([]string{"replay"}, args...))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// TestReplaySaysWhereTheRecordIsNotExplained plants an output that parses behind an event that says it did not.
func TestReplaySaysWhereTheRecordIsNotExplained(t *testing.T) {
	t.Parallel()
	home := writtenLog(t, "<observation><title>kept</title></observation>")
	out, err := replayedAt(t, home)
	if terminal.ExitCode(err) != terminal.ExitFailure || !strings.Contains(err.Error(), "not explained by their rules; the first is at position ") {
		t.Errorf("the error is %v", err)
	}
	for _, want := range []string{"proof: 1 of ", "on record are not explained", "recorded  {", "derived   {", "otp-hold (live)"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not said in\n%s", want, out)
		}
	}
	out, err = replayedAt(t, home, "--json")
	var told *terminal.ReportedError
	if terminal.ExitCode(err) != terminal.ExitFailure || !errors.As(err, &told) {
		t.Errorf("with --json the error is %v", err)
	}
	var doc struct {
		Proof struct {
			Holds       bool
			Differences []struct{ Position uint64 }
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Proof.Holds || len(doc.Proof.Differences) != 1 || doc.Proof.Differences[0].Position == 0 {
		t.Errorf("the proof is %+v", doc.Proof)
	}
	page := filepath.Join(t.TempDir(), "page.html")
	if _, err := replayedAt(t, home, "--report", page); terminal.ExitCode(err) != terminal.ExitFailure {
		t.Errorf("with --report the error is %v", err)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "recorded decisions are not explained") {
		t.Errorf("the page does not say so: %v", err)
	}
}

// TestReplayShowsWhatTodaysGrammarTakesOtherwise reads the same output with --parser.
func TestReplayShowsWhatTodaysGrammarTakesOtherwise(t *testing.T) {
	t.Parallel()
	out, err := replayedAt(t, writtenLog(t, "<observation><title>kept</title></observation>"), "--parser")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"dropped: no_xml (prose)", "1 observation", "1 output: 0 come out as recorded, 1 differently"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not said in\n%s", want, out)
		}
	}
}

func TestReplayOfWhatIsExplained(t *testing.T) {
	t.Parallel()
	out, err := replayedAt(t, writtenLog(t, "Nothing to record."), "--policy", "otp-hold")
	if err != nil || !strings.Contains(out, "all explained by their rules") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSessionNamed(t *testing.T) {
	t.Parallel()
	first, second := events.SessionIDOf("claude-code", "one"), events.SessionIDOf("claude-code", "two")
	twin := first
	twin[len(twin)-1] ^= 1
	known := []events.SessionID{first, second}
	for name, want := range map[string]events.SessionID{
		"one": first, "two": second, first.String(): first, strings.ToUpper(second.String()): second,
		first.String()[:8]: first, strings.ReplaceAll(second.String(), "-", "")[:12]: second,
	} {
		if got, err := sessionNamed(name, known); err != nil || got != want {
			t.Errorf("%q is %v, %v, want %v", name, got, err, want)
		}
	}
	for _, name := range []string{"", "three", first.String()[:7], "00000000"} {
		if got, err := sessionNamed(name, known); !errors.Is(err, terminal.ErrNothing) {
			t.Errorf("%q is %v, %v, want nothing", name, got, err)
		}
	}
	if _, err := sessionNamed(first.String()[:13], append(known, twin)); err == nil || errors.Is(err, terminal.ErrNothing) {
		t.Errorf("a beginning that two have gives %v", err)
	}
	if got, err := sessionNamed(first.String(), append(known, twin)); err != nil || got != first {
		t.Errorf("a whole id is %v, %v", got, err)
	}
}
