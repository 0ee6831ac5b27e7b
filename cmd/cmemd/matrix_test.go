package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/replay"
)

// What a provider says in the rows of the matrix.
const (
	saysObservation = `{"when": {"kind": "observation"}, "text": "<observation><type>change</type><title>The cart holds one lock</title>` +
		`<narrative>Two were held before.</narrative></observation>"}`
	saysSummary = `{"when": {"kind": "summary"}, "text": "<summary><request>Mend the checkout</request><completed>It waits for no lock</completed></summary>"}`
	saysSkip    = `{"text": "<skip_summary reason=\"noise\" />", "repeat": "forever"}`
)

// TestMatrix walks what an observer can do wrong, and right, through a real daemon: what is kept, skipped, dropped, held,
// flagged or stopped, and that nothing is lost on the way.
func TestMatrix(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		walk func(*testing.T)
	}{
		{"valid XML is stored", matrixValid},
		{"an empty output is skipped without churn", matrixEmpty},
		{"prose is dropped with a preview and not stored", matrixProse},
		{"closure text is dropped and never respawned for its words", matrixClosure},
		{"limit prose without a typed failure is dropped, listed and observed again", matrixLimitProse},
		{"a typed limit is held and resumed with nothing lost", matrixTypedLimit},
		{"a fabricated commit is flagged and not injected", matrixFabricated},
		{"a crash loop is quarantined, probed and released", matrixCrashLoop},
		{"a slow crash loop is quarantined by the consecutive cap", matrixSlowCrashes},
		{"a poisoned batch is halved and its one bad input dropped", matrixPoisoned},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.walk(t)
		})
	}
}

func matrixValid(t *testing.T) {
	w := newMatrixWorld(t, []string{saysObservation, saysSummary})
	w.work("one", 3)
	w.awaitBalance(session.Balance{Observed: 4})
	w.checkRemembered("The cart holds one lock")
	w.checkRemembered("It waits for no lock")
	if listed := w.outcomes("observed"); len(listed) != 4 {
		t.Errorf("%d inputs are listed as observed, want 4", len(listed))
	}
	all := w.end()
	checkCalm(t, all, 2)
	checkCount[events.ObservationParsed](t, all, 1)
	checkCount[events.SummaryParsed](t, all, 1)
}

func matrixEmpty(t *testing.T) {
	w := newMatrixWorld(t, []string{`{"when": {"kind": "observation"}, "text": " \n"}`, saysSkip})
	const answers = 8
	for range answers {
		w.work("quiet", 1)
	}
	w.awaitBalance(session.Balance{Skipped: 2 * answers})
	if found := w.search("file0"); len(found) != 0 {
		t.Errorf("nothing was worth recording, and a search found %q", found[0].Title)
	}
	reasons := map[string]int{}
	for _, in := range w.outcomes("skipped") {
		reasons[in.Reason]++
	}
	if reasons[events.ReasonEmpty] != answers || reasons[events.ReasonSkipSummary] != answers {
		t.Errorf("skipped for %v, want %d each of empty and skip_summary", reasons, answers)
	}
	all := w.end()
	checkCount[events.OutputDropped](t, all, 0)
	// Hooks come faster or slower than turns, so that several answers may be settled by one: never more than one each.
	turns := count[events.TurnStarted](all)
	if turns > 2*answers {
		t.Errorf("%d turns for %d answers of the agent, want at most two each", turns, answers)
	}
	checkCalm(t, all, turns)
}

func matrixProse(t *testing.T) {
	prose := "Everything is fine.\n\n" + strings.Repeat("I watched the agent and have nothing to add. ", 20)
	w := newMatrixWorld(t, []string{fmt.Sprintf(`{"text": %q, "repeat": "forever"}`, prose)})
	w.work("one", 2)
	w.awaitBalance(session.Balance{Dropped: 3})
	w.checkDropped(3, "prose", events.ReasonNoXML)
	w.checkForgettable("watched the agent")
	all := w.end()
	checkCalm(t, all, 2)
	checkCount[events.ObservationParsed](t, all, 0)
	for _, e := range of[events.OutputDropped](all) {
		begins := strings.HasPrefix(e.Preview.RawText(), "Everything is fine. I watched")
		if !begins || e.Preview.Len() > 4*200 || len([]rune(e.Preview.RawText())) > 200 || e.Length != len(prose) {
			t.Errorf("dropped with %d bytes and the preview %q", e.Length, e.Preview)
		}
	}
	for _, e := range of[events.TurnReceived](all) {
		if e.Output.RawText() != prose {
			t.Errorf("the log keeps %q, want the whole output", e.Output)
		}
	}
}

// closureTexts are what observers have said in place of an answer. A rule by phrases respawns for the first of them.
func closureTexts() []string {
	return []string{
		"The session has been exhausted. I cannot continue this session.",
		"Session exhausted.",
		"Prompt is too long",
		"I have reached the end of my context window and am no longer able to continue.",
		"This session has ended. Please start a new conversation.",
		"Die Sitzung ist erschöpft, das Kontextfenster ist voll.",
		"La session est épuisée : la fenêtre de contexte est pleine.",
		"La sesión ha terminado; no puedo continuar.",
		"セッションは終了しました。コンテキストウィンドウがいっぱいです。",
		"会话已耗尽，上下文窗口已满。",
		"Сессия исчерпана, контекстное окно заполнено.",
		"انتهت الجلسة ولا يمكنني المتابعة.",
	}
}

func matrixClosure(t *testing.T) {
	var script []string
	for _, text := range closureTexts() {
		script = append(script, fmt.Sprintf(`{"when": {"kind": "observation"}, "repeat": 1, "text": %q}`, text))
	}
	w := newMatrixWorld(t, append(script, saysSummary))
	texts := len(closureTexts())
	for n := range texts { // each is an answer of the agent by itself, so that each is a turn
		w.work("closing", 1)
		w.await("the answer to be settled", func(st api.Status) bool { return st.Inputs.Captured == 2*(n+1) && st.Inputs.Pending == 0 })
	}
	w.awaitBalance(session.Balance{Dropped: texts, Observed: texts})
	w.checkDropped(texts, "prose", events.ReasonNoXML)
	w.checkForgettable("exhausted")
	all := w.end()
	checkCalm(t, all, 2*texts)
	checkLegacyRespawns(t, all)
}

// checkLegacyRespawns plays the same record under the rule by phrases: that it respawns shows that the texts are those
// that matter.
func checkLegacyRespawns(t *testing.T, all []logged) {
	t.Helper()
	recording, err := replay.Record(func(yield func(events.Record, error) bool) {
		for _, l := range all {
			if !yield(l.Record, nil) {
				return
			}
		}
	}, replay.Wanted{})
	if err != nil {
		t.Fatal(err)
	}
	results, err := replay.Compare(recording.Scenario, []policy.Name{policy.LegacyKeyword, policy.OTPHold}, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := results[policy.LegacyKeyword].Respawns; n < 5 {
		t.Errorf("legacy-keyword respawns %d times over this record, want at least 5", n)
	}
	if n := results[policy.OTPHold].Respawns; n != 0 {
		t.Errorf("otp-hold respawns %d times over this record, want never", n)
	}
}

func matrixLimitProse(t *testing.T) {
	w := newMatrixWorld(t, []string{
		`{"text": "You've hit your weekly limit · resets 7am", "repeat": 2}`, saysObservation, saysSummary,
	})
	w.work("limited", 4)
	w.awaitBalance(session.Balance{Dropped: 5})
	w.checkDropped(5, "prose", events.ReasonNoXML)
	if st := w.await("a status", func(api.Status) bool { return true }); len(st.Pauses) != 0 {
		t.Errorf("the provider is paused for words: %+v", st.Pauses)
	}
	out, err := w.command(w.ctx, "reobserve", "--dropped").CombinedOutput()
	if err != nil {
		t.Fatalf("reobserve: %v\n%s", err, out)
	}
	w.awaitBalance(session.Balance{Observed: 5})
	if listed := w.outcomes("dropped"); len(listed) != 0 {
		t.Errorf("%d inputs are listed as dropped still", len(listed))
	}
	w.checkRemembered("The cart holds one lock")
	all := w.end()
	checkCount[events.ProviderPaused](t, all, 0)
	checkCount[events.TurnFailed](t, all, 0)
	checkCount[events.OutputDropped](t, all, 2)
}

func matrixTypedLimit(t *testing.T) {
	w := newMatrixWorld(t, []string{
		`{"failure": {"class": "limit", "status": 429, "resets_in_ms": 2000, "message": "weekly limit", "output": "You've hit your weekly limit"}}`,
		saysObservation, saysSummary,
	})
	w.work("one", 2)
	st := w.await("the provider to be paused", func(st api.Status) bool { return len(st.Pauses) == 1 })
	if p := st.Pauses[0]; p.Class != events.FailLimit || p.Provider != "playback" {
		t.Errorf("paused as %+v, want playback for its limit", p)
	}
	w.work("two", 3) // what happens meanwhile is captured, and waits
	st = w.await("the inputs to be captured", func(st api.Status) bool { return st.Inputs.Captured == w.captured() })
	w.checkBalance(st.Inputs, session.Balance{Pending: 7})
	if listed := w.outcomes("pending"); len(listed) != 7 {
		t.Errorf("%d inputs are listed as pending, want 7", len(listed))
	}
	w.awaitBalance(session.Balance{Observed: 7})
	w.checkRemembered("The cart holds one lock")
	if st := w.await("a status", func(api.Status) bool { return true }); len(st.Pauses) != 0 {
		t.Errorf("the provider is paused still: %+v", st.Pauses)
	}
	all := w.end()
	checkCount[events.ProviderPaused](t, all, 1)
	checkCount[events.ProviderResumed](t, all, 1)
	checkCount[events.TurnFailed](t, all, 1)
	checkCount[events.InputsDropped](t, all, 0)
	checkNothingAskedInThePause(t, all)
}

// checkNothingAskedInThePause wants no turn between the pause and its end, and one alone until it was answered.
func checkNothingAskedInThePause(t *testing.T, all []logged) {
	t.Helper()
	var paused events.ProviderPaused
	var since, resumed events.Position
	for r, e := range of[events.ProviderPaused](all) {
		paused, since = e, r.Position
	}
	for r := range of[events.ProviderResumed](all) {
		resumed = r.Position
	}
	probes := 0
	for r := range of[events.TurnStarted](all) {
		if r.Position < since || r.Position > resumed {
			continue
		}
		probes++
		if r.RecordedAt.Before(paused.Until) {
			t.Errorf("a turn was started %v before the limit resets", paused.Until.Sub(r.RecordedAt))
		}
	}
	if probes != 1 {
		t.Errorf("%d turns between the pause and its end, want one probe", probes)
	}
}

func matrixFabricated(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	repo, hash := repository(t)
	const absent = "0badc0de0badc0de0badc0de0badc0de0badc0de"
	w := newMatrixWorld(t, []string{
		fmt.Sprintf(`{"when": {"kind": "observation"}, "text": "<observation><type>change</type><title>Sprites are packed</title>`+
			`<narrative>Done in commit %s.</narrative></observation><observation><type>change</type><title>Textures are served</title>`+
			`<narrative>Done in commit %s.</narrative></observation>"}`, hash, absent),
		saysSkip,
	})
	w.cwd = repo
	w.work("one", 1)
	w.awaitBalance(session.Balance{Observed: 1, Skipped: 1})
	w.checkRemembered("Sprites are packed")
	for title, flagged := range map[string]bool{"Sprites are packed": false, "Textures are served": true} {
		found := w.search(title)
		i := slices.IndexFunc(found, func(r api.Result) bool { return r.Title == title })
		if i < 0 || found[i].Flagged != flagged {
			t.Errorf("%q: found %+v, want it flagged: %v", title, found, flagged)
		}
	}
	if text := w.context(); strings.Contains(text, "Textures are served") {
		t.Errorf("a new session is given what names a commit that is not there:\n%s", text)
	}
	verdicts := map[string]events.Verdict{}
	all := w.end()
	for _, e := range of[events.ObservationParsed](all) {
		for _, c := range e.Claims {
			verdicts[c.Value] = c.Verdict
		}
	}
	if verdicts[hash] != events.Verified || verdicts[absent] != events.Absent || len(verdicts) != 2 {
		t.Errorf("the verdicts are %v", verdicts)
	}
}

// repository makes a repository with one commit and returns its folder and the commit's hash.
func repository(t *testing.T) (dir, hash string) {
	t.Helper()
	dir = t.TempDir()
	git := func(args ...string) string {
		c := exec.CommandContext(t.Context(), "git", append([]string{
			"-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false",
		}, args...)...)
		c.Dir, c.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "pack the sprites")
	return dir, git("rev-parse", "HEAD")
}

func matrixCrashLoop(t *testing.T) {
	w := newMatrixWorld(t, []string{
		`{"when": {"contains": "doomed"}, "crash": "exit status 139", "repeat": 7}`, saysObservation, saysSummary,
	}, `restart_delay = "1ms"`, `restart_delay_max = "20ms"`, `quarantine_first = "1s"`, `max_attempts = 10`)
	for range 3 {
		w.edit("doomed", "doomed.go")
	}
	w.stop("doomed")
	st := w.await("the session to be quarantined", func(st api.Status) bool { return len(st.Held) == 1 })
	if st.Held[0].Cause != policy.TripConsecutive {
		t.Errorf("quarantined for %q, want %q", st.Held[0].Cause, policy.TripConsecutive)
	}
	w.work("well", 2) // the trouble of one session stops no other
	st = w.await("the other session to be observed", func(st api.Status) bool { return st.Inputs.Observed >= 3 })
	if len(st.Held) != 1 || st.Inputs.Dropped != 0 {
		t.Errorf("%d sessions are quarantined and %d inputs dropped, want one and none", len(st.Held), st.Inputs.Dropped)
	}
	w.awaitBalance(session.Balance{Observed: 7})
	w.await("the release", func(st api.Status) bool { return len(st.Held) == 0 })
	all := w.end()
	checkSupervision(t, all, []string{
		"respawned 1", "respawned 2", "respawned 3", "respawned 4", "respawned 5", "quarantined consecutive 1", "quarantined probe 2", "released probe",
	})
	checkCount[events.InputsDropped](t, all, 0)
}

// checkSupervision wants these decisions about the one session that there is trouble with, in this order.
func checkSupervision(t *testing.T, all []logged, want []string) {
	t.Helper()
	var got []string
	for _, l := range all {
		switch e := l.event.(type) {
		case events.SessionRespawned:
			got = append(got, fmt.Sprint("respawned ", e.Counted.Consecutive))
		case events.SessionQuarantined:
			got = append(got, fmt.Sprint("quarantined ", e.Cause, " ", e.Trip))
		case events.SessionReleased:
			got = append(got, "released "+e.By)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("supervision decided\n%q, want\n%q", got, want)
	}
}

// matrixSlowCrashes scales an observer that dies every 8 s, and the window of 60 s, by 80. At that pace no more than eight
// deaths are ever within the window, which allows ten: it is the cap of five in a row that ends it.
func matrixSlowCrashes(t *testing.T) {
	const pace = 100 * time.Millisecond
	w := newMatrixWorld(t, []string{`{"crash": "exit status 1", "repeat": 6}`, saysObservation, saysSummary},
		`restart_delay = "120ms"`, `restart_delay_max = "120ms"`, `restart_window = "750ms"`, `quarantine_first = "300ms"`, `max_attempts = 10`)
	w.work("slow", 2)
	w.awaitBalance(session.Balance{Observed: 3})
	w.await("the release", func(st api.Status) bool { return len(st.Held) == 0 })
	all := w.end()
	checkSupervision(t, all, []string{
		"respawned 1", "respawned 2", "respawned 3", "respawned 4", "respawned 5", "quarantined consecutive 1", "released probe",
	})
	for _, e := range of[events.SessionQuarantined](all) {
		if e.Counted.InWindow > e.Limits.MaxRestarts || e.Counted.Consecutive != e.Limits.MaxConsecutive+1 {
			t.Errorf("quarantined with %+v of %+v: the window must not have tripped", e.Counted, e.Limits)
		}
	}
	var last time.Time
	for r, e := range of[events.TurnFailed](all) {
		if e.Class != events.FailCrash {
			t.Errorf("a turn failed as %s", e.Class)
		}
		if between := r.RecordedAt.Sub(last); between < pace*8/10 {
			t.Errorf("two crashes within %v, want them %v apart or more", between, pace)
		}
		last = r.RecordedAt
	}
}

func matrixPoisoned(t *testing.T) {
	w := newMatrixWorld(t, []string{
		`{"when": {"contains": "poison.go"}, "crash": "exit status 139"}`, saysObservation, saysSummary,
	}, `restart_delay = "1ms"`, `restart_delay_max = "2ms"`, `quarantine_first = "20ms"`, `quarantine_max = "50ms"`)
	for i := range 8 {
		if i == 5 {
			w.edit("poisoned", "poison.go")
			continue
		}
		w.edit("poisoned", fmt.Sprintf("file%d.go", i))
	}
	w.stop("poisoned")
	w.awaitBalance(session.Balance{Observed: 8, Dropped: 1})
	listed := w.outcomes("dropped")
	w.checkDropped(1, "", string(events.DropPoison))
	w.checkRemembered("The cart holds one lock")
	all := w.end()
	halved := 0
	for _, e := range of[events.TurnFailed](all) {
		if e.Halved > 0 {
			halved++
		}
	}
	if halved == 0 {
		t.Error("no batch was halved")
	}
	checkCount[events.InputsDropped](t, all, 1)
	for r, e := range of[events.ToolUsed](all) {
		if bad := strings.Contains(e.Input, "poison.go"); bad != (len(listed) == 1 && listed[0].Position == r.Position) {
			t.Errorf("the dropped input is %+v, and %s is at %d", listed, e.Input, r.Position)
		}
	}
}
