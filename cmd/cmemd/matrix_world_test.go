package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/replay"
)

// matrixLimit is how long one row may wait for anything. All of them take milliseconds, or a second and a bit; two turns of a real
// client take seconds, and more than a minute where other programs want the processors.
const matrixLimit = 5 * clitest.Timeout

// matrixWorld is a daemon of its own, a real process, with a script in the place of a model.
type matrixWorld struct {
	program
	ctx    context.Context
	client *client.Client
	daemon *exec.Cmd
	cwd    string // where its sessions work
	uses   int
	stops  int
}

// newMatrixWorld starts a daemon that plays script, under settings that are lines of its file.
func newMatrixWorld(t *testing.T, script []string, settings ...string) *matrixWorld {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*clitest.Timeout)
	t.Cleanup(cancel)
	w := &matrixWorld{program: newProgram(t), ctx: ctx, cwd: "/src/shop"}
	played := filepath.Join(t.TempDir(), "script.jsonl")
	header := `{"playback": 1, "model": "told", "wish": {"max_inputs": 20}}`
	w.write(played, append([]string{header}, script...))
	if err := os.MkdirAll(w.home, 0o700); err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(w.home, config.FileName), append([]string{`provider = "playback"`, `playback_file = "` + played + `"`}, settings...))
	w.client = client.Dial(w.home)
	t.Cleanup(w.client.Close)
	w.daemon = w.serve(ctx)
	t.Cleanup(func() {
		if w.daemon != nil {
			_ = w.daemon.Process.Kill()
			_ = w.daemon.Wait()
		}
	})
	return w
}

func (w *matrixWorld) write(path string, lines []string) {
	w.t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// hook sends what an agent reports.
func (w *matrixWorld) hook(session, event string, more map[string]any) {
	w.t.Helper()
	more["session_id"], more["cwd"], more["hook_event_name"] = session, w.cwd, event
	payload, err := json.Marshal(more)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.client.Hook(w.ctx, "claude-code", payload, uuid.Must(uuid.NewV7()), time.Now()); err != nil {
		w.t.Fatal(err)
	}
}

// edit has a session change a file.
func (w *matrixWorld) edit(session, file string) {
	w.t.Helper()
	w.uses++
	path := filepath.Join(w.cwd, file)
	w.hook(session, "PostToolUse", map[string]any{
		"tool_name": "Edit", "tool_use_id": fmt.Sprintf("toolu_%d", w.uses),
		"tool_input":    map[string]any{"file_path": path, "old_string": "a", "new_string": "b"},
		"tool_response": map[string]any{"filePath": path},
	})
}

// stop ends the answer of a session's agent: its work since the last one is due.
func (w *matrixWorld) stop(session string) {
	w.t.Helper()
	w.stops++
	w.hook(session, "Stop", map[string]any{"last_assistant_message": "Done."})
}

// work edits n files and stops.
func (w *matrixWorld) work(session string, n int) {
	w.t.Helper()
	for i := range n {
		w.edit(session, fmt.Sprintf("file%d.go", i))
	}
	w.stop(session)
}

// captured is how many inputs the row has made.
func (w *matrixWorld) captured() int { return w.uses + w.stops }

// await waits until the status is as wanted.
func (w *matrixWorld) await(what string, done func(api.Status) bool) api.Status {
	w.t.Helper()
	var st api.Status
	var err error
	for limit := time.Now().Add(matrixLimit); ; time.Sleep(5 * time.Millisecond) {
		if st, err = api.StatusRoute.Call(w.ctx, w.client, api.NoQuery{}); err == nil && done(st) {
			return st
		}
		if time.Now().After(limit) {
			w.t.Fatalf("waited too long for %s: %v, %+v", what, err, st)
		}
	}
}

// awaitBalance waits until every input is settled and no wish is open, and checks what became of them. Fields of want
// that are not set are 0.
func (w *matrixWorld) awaitBalance(want session.Balance) {
	w.t.Helper()
	st := w.await("every input to be settled", func(st api.Status) bool {
		return st.Inputs.Captured == w.captured() && st.Inputs.Pending == 0 && st.Inputs.Reobserve == 0
	})
	w.checkBalance(st.Inputs, want)
}

func (w *matrixWorld) checkBalance(got api.Balance, want session.Balance) {
	w.t.Helper()
	if sum := got.Observed + got.Skipped + got.Dropped + got.Pending + got.Forgotten; got.Captured != sum || got.Captured != w.captured() {
		w.t.Errorf("captured %d of %d, and the sum of what became of them is %d", got.Captured, w.captured(), sum)
	}
	if got.Observed != want.Observed || got.Skipped != want.Skipped || got.Dropped != want.Dropped || got.Pending != want.Pending {
		w.t.Errorf("got %s, want %s", api.BalanceWords(got.Balance), api.BalanceWords(want))
	}
}

// outcomes lists the inputs with an outcome.
func (w *matrixWorld) outcomes(outcome string) []api.Input {
	w.t.Helper()
	found, err := api.OutcomesRoute.Call(w.ctx, w.client, api.OutcomesQuery{Outcome: outcome})
	if err != nil {
		w.t.Fatal(err)
	}
	return found.Inputs
}

// checkDropped wants n inputs listed as dropped, all for one class and reason.
func (w *matrixWorld) checkDropped(n int, class, reason string) {
	w.t.Helper()
	listed := w.outcomes("dropped")
	if len(listed) != n {
		w.t.Errorf("%d inputs are listed as dropped, want %d", len(listed), n)
	}
	for _, in := range listed {
		if in.Class != class || in.Reason != reason {
			w.t.Errorf("input %d was dropped as %s/%s, want %s/%s", in.Position, in.Class, in.Reason, class, reason)
		}
	}
}

// search returns the observations and summaries that words find, when all that happened is known.
func (w *matrixWorld) search(words string) []api.Result {
	w.t.Helper()
	st, err := api.StatusRoute.Call(w.ctx, w.client, api.NoQuery{})
	if err != nil {
		w.t.Fatal(err)
	}
	found, err := api.SearchRoute.Call(w.ctx, w.client, api.SearchQuery{Text: words, Kind: "observation,summary", After: st.Position})
	if err != nil {
		w.t.Fatal(err)
	}
	return found.Results
}

// checkForgettable wants words neither found nor given to a new session.
func (w *matrixWorld) checkForgettable(words string) {
	w.t.Helper()
	if found := w.search(words); len(found) != 0 {
		w.t.Errorf("a search for %q found %q", words, found[0].Title)
	}
	if text := w.context(); strings.Contains(text, words) {
		w.t.Errorf("a new session is given %q in\n%s", words, text)
	}
}

// checkRemembered wants words found, and given to a new session.
func (w *matrixWorld) checkRemembered(words string) {
	w.t.Helper()
	if found := w.search(words); len(found) == 0 {
		w.t.Errorf("a search for %q found nothing", words)
	}
	if text := w.context(); !strings.Contains(text, words) {
		w.t.Errorf("a new session is not given %q but\n%s", words, text)
	}
}

func (w *matrixWorld) context() string {
	w.t.Helper()
	st, err := api.StatusRoute.Call(w.ctx, w.client, api.NoQuery{})
	if err != nil {
		w.t.Fatal(err)
	}
	answer, err := api.ContextRoute.Call(w.ctx, w.client, api.ContextQuery{Cwd: w.cwd, After: st.Position})
	if err != nil {
		w.t.Fatal(err)
	}
	return answer.Text
}

// logged is a record of the log, decoded.
type logged struct {
	events.Record
	event events.Event
}

// end stops the daemon and returns the log. Whatever the row is about: every chain of the log holds, its balance adds up
// by the definition of an outcome, and its own rules explain each decision on record.
func (w *matrixWorld) end() []logged {
	w.t.Helper()
	before, err := api.StatusRoute.Call(w.ctx, w.client, api.NoQuery{})
	if err != nil {
		w.t.Fatal(err)
	}
	if out, err := w.command(w.ctx, "stop").CombinedOutput(); err != nil {
		w.t.Fatalf("stop: %v, %s", err, out)
	}
	_ = w.daemon.Wait() // it was asked to end
	w.daemon = nil
	log, err := eventlog.OpenReadOnly(homedir.PathsOf(w.home).Log, eventlog.Config{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer log.Close()
	w.audit(log, before.Inputs)
	var all []logged
	for r, err := range log.All(w.ctx, 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		e, err := r.Event()
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, logged{r, e})
	}
	return all
}

func (w *matrixWorld) audit(log eventlog.Log, shown api.Balance) {
	w.t.Helper()
	if err := eventlog.Verify(w.ctx, log, nil); err != nil {
		w.t.Error(err)
	}
	accounts, err := replay.Audit(w.ctx, log.All(w.ctx, 0))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, d := range accounts.Discrepancies {
		w.t.Errorf("the balance does not add up: %+v", d)
	}
	w.checkBalance(shown, accounts.Balance)
	proof, err := replay.Prove(log.All(w.ctx, 0), replay.Selection{}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, d := range proof.Differences {
		w.t.Errorf("not explained by its rules: %+v", d)
	}
	if checked, _ := proof.Checked(); checked == 0 {
		w.t.Error("no decision was looked at")
	}
}

// of yields the events of one kind with their records.
func of[E events.Event](all []logged) iter.Seq2[events.Record, E] {
	return func(yield func(events.Record, E) bool) {
		for _, l := range all {
			if e, ok := l.event.(E); ok && !yield(l.Record, e) {
				return
			}
		}
	}
}

// count counts the events of one kind.
func count[E events.Event](all []logged) (n int) {
	for range of[E](all) {
		n++
	}
	return n
}

// checkCount wants n events of a kind.
func checkCount[E events.Event](t *testing.T, all []logged, n int) {
	t.Helper()
	if got := count[E](all); got != n {
		var kind E
		t.Errorf("%d records of %s, want %d", got, events.KindOf(kind), n)
	}
}

// checkCalm wants turns and no more than turns of them, and no respawn, quarantine or pause.
func checkCalm(t *testing.T, all []logged, turns int) {
	t.Helper()
	checkCount[events.TurnStarted](t, all, turns)
	checkCount[events.TurnFailed](t, all, 0)
	checkCount[events.SessionRespawned](t, all, 0)
	checkCount[events.SessionQuarantined](t, all, 0)
	checkCount[events.ProviderPaused](t, all, 0)
	for _, e := range of[events.TurnStarted](all) {
		if e.Generation != 1 && e.Generation != 0 {
			t.Errorf("a turn of generation %d, want the first", e.Generation)
		}
	}
}
