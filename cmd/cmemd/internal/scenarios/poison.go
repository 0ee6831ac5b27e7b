package scenarios

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/observer/playback"
	"github.com/cmemd/cmemd/internal/replay"
	"github.com/cmemd/cmemd/internal/setting"
)

// poisonScenarios are recorded loops, as replay reads them.
//
//go:embed demo/quiet-session-3032.json demo/weekly-limit-3037.json demo/slow-restart-8s.json
var poisonScenarios embed.FS

// poisonScene is one recorded loop and how it is played to a daemon.
type poisonScene struct {
	name     string // for people
	file     string
	factor   int  // how many times as fast as it was
	lockstep bool // each input waits for the one before it to be settled, so that each gets its recorded output
	script   func(s *replay.Scenario, factor int, by policyResults) []playback.Step
	assert   func(a account, by policyResults) []assertion
}

// poisonRun is a scene on its stage.
type poisonRun struct {
	*stage
	scene       poisonScene
	scenario    *replay.Scenario
	results     policyResults
	account     account
	endPosition events.Position // where the log stood when the scene was over
}

// compare plays the scene through replay under every policy and draws what comes of it.
func (p *poisonRun) compare(context.Context) error {
	data, err := poisonScenarios.ReadFile("demo/" + p.scene.file + ".json")
	if err != nil {
		return err
	}
	if p.scenario, err = replay.ReadScenario(bytes.NewReader(data)); err != nil {
		return err
	}
	c, err := replayPlan{names: policy.Names()}.compare(p.scenario)
	if err != nil {
		return err
	}
	if c.expect(false); len(c.unequal) > 0 {
		return fmt.Errorf("replay differs from what is known of the scenario: %s", c.unequal[0])
	}
	p.results = policyResults{}
	for _, r := range c.runs {
		p.results[r.Policy] = r.Result
	}
	p.announce("%s (%s), replayed under %d policies", p.scene.name, p.scenario.ID, len(c.runs))
	if p.a.JSON {
		return p.a.PrintJSONLine(poisonLine{Comparison: &poisonComparison{p.scenario.ID, p.results}})
	}
	p.printDetail("%s\n", p.scenario.Title)
	p.a.Printf("\n")
	drawn := *p.a
	if w, ok := drawn.Out.(*carefulWriter); ok {
		drawn.Out = w.to // which may be a terminal, and is drawn for
	}
	showComparison(&drawn, p.scenario, c.runs, c.live)
	return drawn.WriteErr()
}

// poisonLine is one line of the demo for programs, beside those of demoLine.
type poisonLine struct {
	Comparison *poisonComparison `json:"comparison,omitempty"`
	Account    *account          `json:"account,omitempty"`
}

type poisonComparison struct {
	Scenario string        `json:"scenario"`
	Policies policyResults `json:"policies"`
}

// prepare writes the script of the scene and the settings of the daemon that plays it.
func (p *poisonRun) prepare(context.Context) error {
	script := playback.Script{Model: p.scenario.ID, BatchLimits: policy.ModelLimits(), Steps: p.scene.script(p.scenario, p.scene.factor, p.results)}
	script.BatchLimits.MaxAge = time.Millisecond // as an observer of one input after the other
	var lines bytes.Buffer
	if err := script.Write(&lines); err != nil {
		return err
	}
	played := filepath.Join(p.dir, "script.jsonl")
	if err := os.WriteFile(played, lines.Bytes(), 0o600); err != nil {
		return err
	}
	limits := scaledLimits(p.scene.factor)
	settings := append([]string{`provider = "playback"`, fmt.Sprintf("playback_file = %q", played)}, limits...)
	if err := os.MkdirAll(p.home, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(p.home, config.FileName), []byte(strings.Join(settings, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	p.announce("%s through a real daemon, %d times as fast, under %s", p.scene.name, p.scene.factor, livePolicy())
	p.printDetail("its limits are divided by the same factor, none below a millisecond: %s", strings.Join(limits, ", "))
	return nil
}

// scaledLimits are the default limits of restarts, quarantines and pauses divided by factor, as lines of settings.
func scaledLimits(factor int) []string {
	var lines []string
	for _, s := range new(setting.InForce).SuperviseRows() {
		switch s.Key {
		case policy.KeyRestartWindow, policy.KeyRestartDelay, policy.KeyRestartDelayMax,
			policy.KeyQuarantineFirst, policy.KeyQuarantineMax, policy.KeyPauseFirst, policy.KeyPauseMax:
			limit, _ := time.ParseDuration(s.Standard)                   // it is one
			scaled := max(limit/time.Duration(factor), time.Millisecond) // the least that settings allow
			lines = append(lines, fmt.Sprintf("%s = %q", s.Key, setting.ShortDuration(scaled)))
		}
	}
	return lines
}

// scaled is a time of a scenario divided by factor, in whole milliseconds.
func scaled(ms int64, factor int) time.Duration {
	return time.Duration(ms/int64(factor)) * time.Millisecond
}

// recoveredStep is what the observer says when the trouble is over: to all that is asked from then on.
func recoveredStep(title string) playback.Step {
	return playback.Step{Repeat: playback.Forever, Action: playback.Text{
		Text: "<observation><type>change</type><title>" + title + "</title><narrative>The change is in place and covered by a test.</narrative></observation>",
	}}
}

// quietScript says what was recorded, one output after the other.
func quietScript(s *replay.Scenario, _ int, _ policyResults) []playback.Step {
	var steps []playback.Step
	for _, e := range s.Events {
		steps = append(steps, playback.Step{Action: scenarioAction(e)})
	}
	return append(steps, recoveredStep("What was dropped, observed again"))
}

// limitScript fails, typed, for as long as the limit lasted, and says no reset time, as on record.
func limitScript(s *replay.Scenario, factor int, _ policyResults) []playback.Step {
	within, i := outage(s, factor)
	limit := playback.Failure{Class: events.FailLimit, Status: http.StatusTooManyRequests, Output: s.Events[i].Output.RawText()}
	return []playback.Step{{When: within, Action: limit}, recoveredStep("Work around the weekly limit")}
}

// crashScript dies as long after each start as it did, and as often as it does in the replay of the live policy: at the
// restarts and probes that are counted there, and once more, when the halt follows. So a slow machine plays the same scene.
func crashScript(s *replay.Scenario, factor int, results policyResults) []playback.Step {
	_, i := outage(s, factor)
	pace := scaled(s.Events[i+1].AtMS-s.Events[i].AtMS, factor)
	steps := []playback.Step{
		{Action: recoveredStep("Before the crashes").Action}, {Action: scenarioAction(s.Events[i]), Delay: pace, Repeat: results.live().Restarts + 1},
	}
	return append(steps, recoveredStep("Work around the crashes"))
}

// outage is when the trouble of a scenario begins and ends, and its first event.
func outage(s *replay.Scenario, factor int) (within playback.When, first int) {
	bad := func(e replay.Event) bool { return e.Kind == replay.KindExit || e.Provider != nil && e.Provider.IsError }
	first = -1
	for i, e := range s.Events {
		switch {
		case bad(e) && first < 0:
			first = i
			within.From = scaled((s.Events[max(i-1, 0)].AtMS+e.AtMS)/2, factor)
		case !bad(e) && first >= 0:
			within.Until = scaled(e.AtMS, factor)
			return within, first
		}
	}
	return within, first
}

// assertion is one thing that must be true of a scene, in words that hold the numbers.
type assertion struct {
	holds bool
	says  string
}

func asserted(holds bool, format string, args ...any) assertion {
	return assertion{holds, fmt.Sprintf(format, args...)}
}

// policyResults is what replay makes of a scene, by policy.
type policyResults map[string]replay.Result

func (r policyResults) live() replay.Result { return r[livePolicy()] }

// account is what a daemon made of a scene: what became of its inputs, and what its log says when it has ended.
type account struct {
	Scene  string `json:"scene"`
	Factor int    `json:"factor"`
	Sent   int    `json:"sent"` // inputs that the agent reported

	Played api.Balance `json:"played"` // when the scene was over
	Again  int         `json:"again"`  // dropped inputs that were asked for again
	Final  api.Balance `json:"final"`  // after that

	// Until the scene was over.
	Calls       int      `json:"calls"` // of the provider
	Crashes     int      `json:"crashes"`
	Failures    int      `json:"failures"`    // of the provider, typed
	Respawns    []string `json:"respawns"`    // what for
	Quarantines []string `json:"quarantines"` // what for
	Releases    []string `json:"releases"`    // by whom
	Pauses      []int    `json:"pauses"`      // the number of each in its row
	Resumes     int      `json:"resumes"`
	GivenUp     int      `json:"given_up"` // inputs, by name

	// Of the whole log.
	Records       int      `json:"records"`
	Decisions     int      `json:"decisions"`     // on record, that were derived again from what was known
	Unexplained   int      `json:"unexplained"`   // of them that came out differently
	Discrepancies int      `json:"discrepancies"` // between the balance and the raw events
	Unlike        []string `json:"unlike,omitempty"`
}
