package scenarios

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/observer/playback"
	"github.com/cmemd/cmemd/internal/replay"
)

// poisonScenario is a scene's scenario, which must be the one that replay is tested with.
func poisonScenario(t *testing.T, scene poisonScene) *replay.Scenario {
	t.Helper()
	data, err := poisonScenarios.ReadFile("demo/" + scene.file + ".json")
	if err != nil {
		t.Fatal(err)
	}
	tested, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "internal", "replay", "testdata", "scenarios", scene.file+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, tested) {
		t.Errorf("%s is not the scenario that replay is tested with", scene.file)
	}
	s, err := replay.ReadScenario(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPoisonScenesCanBePlayed(t *testing.T) {
	t.Parallel()
	for _, scene := range poisonScenes() {
		s := poisonScenario(t, scene)
		script := playback.Script{Steps: scene.script(s, scene.factor, resultsOf(t, s))}
		if err := script.Write(new(bytes.Buffer)); err != nil {
			t.Errorf("%s: %v", scene.file, err)
		}
		home := clitest.HomeWith(t, strings.Join(scaledLimits(scene.factor), "\n"))
		if _, err := config.Load(home, nil); err != nil {
			t.Errorf("%s: %v", scene.file, err)
		}
	}
}

func TestOutage(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]playback.When{
		"weekly-limit-3037": {From: 1170 * time.Second / 100, Until: 192 * time.Second},
		"slow-restart-8s":   {From: 4 * time.Second / 100, Until: 620 * time.Second / 100},
	} {
		s := poisonScenario(t, poisonScene{file: file})
		if got, first := outage(s, 100); got != want || first < 1 {
			t.Errorf("%s: got %+v from event %d, want %+v", file, got, first, want)
		}
	}
}

func resultsOf(t *testing.T, s *replay.Scenario) policyResults {
	t.Helper()
	compared, err := replayPlan{names: policy.Names()}.compare(s)
	if err != nil {
		t.Fatal(err)
	}
	by := policyResults{}
	for _, r := range compared.runs {
		by[r.Policy] = r.Result
	}
	return by
}

// goodAccounts are what the scenes come to when all is well.
func goodAccounts() map[string]account {
	sum := func(observed, skipped, dropped int) api.Balance {
		return api.Balance{Balance: session.Balance{Captured: observed + skipped + dropped, Observed: observed, Skipped: skipped, Dropped: dropped}}
	}
	return map[string]account{
		"quiet-session-3032": {Sent: 45, Played: sum(2, 25, 18), Again: 18, Final: sum(20, 25, 0), Calls: 45, Decisions: 9},
		"weekly-limit-3037": {
			Sent: 440, Played: sum(440, 0, 0), Final: sum(440, 0, 0), Failures: 3, Pauses: []int{1, 2, 3}, Resumes: 1, Decisions: 9,
		},
		"slow-restart-8s": {
			Sent: 9, Played: sum(9, 0, 0), Final: sum(9, 0, 0), Crashes: 9, Decisions: 9,
			Respawns: []string{"crash", "crash", "crash", "crash", "crash"}, Quarantines: []string{"consecutive", "probe", "probe", "probe"}, Releases: []string{"probe"},
		},
	}
}

// TestPoisonIsAsserted holds the assertions to accounts in which one thing is wrong.
func TestPoisonIsAsserted(t *testing.T) {
	t.Parallel()
	quiet, limit, crashes := "quiet-session-3032", "weekly-limit-3037", "slow-restart-8s"
	for _, c := range []struct {
		name, scene string
		spoil       func(*account)
		broken      string // a part of what is said not to hold; empty: all holds
	}{
		{"a quiet session", quiet, func(*account) {}, ""},
		{"a limit", limit, func(*account) {}, ""},
		{"a crash loop", crashes, func(*account) {}, ""},
		{"an input that is not counted", quiet, func(a *account) { a.Final.Captured++ }, "every input is counted"},
		{"an input that was not captured", limit, func(a *account) { a.Sent++ }, "every input is counted"},
		{"an input that is pending", limit, func(a *account) { a.Final.Pending, a.Final.Observed = 1, 439 }, "nothing is lost"},
		{"one that stays dropped", quiet, func(a *account) { a.Again = 17 }, "nothing is lost"},
		{"another decision than replay's", quiet, func(a *account) { a.Played.Skipped--; a.Played.Dropped++ }, "decided as replay did"},
		{"a call too many", quiet, func(a *account) { a.Calls++ }, "one an output"},
		{"a respawn", quiet, func(a *account) { a.Respawns = []string{"crash"} }, "1 respawns"},
		{"a respawn for words", crashes, func(a *account) { a.Respawns[0] = "unparseable" }, "for what it said"},
		{"a second pause in a row of its own", limit, func(a *account) { a.Pauses[2] = 1 }, "paused once"},
		{"no end of the pause", limit, func(a *account) { a.Resumes = 0 }, "resumed once"},
		{"a call into the pause", limit, func(a *account) { a.Failures = 4 }, "came to nothing"},
		{"an input lost to the limit", limit, func(a *account) { a.Played.Observed-- }, "are observed"},
		{"a window that tripped", crashes, func(a *account) { a.Quarantines[0] = "intensity" }, "quarantined for 6"},
		{"no quarantine at all", crashes, func(a *account) { a.Quarantines = nil }, "quarantined for 6"},
		{"no release", crashes, func(a *account) { a.Releases = nil }, "released the session"},
		{"a crash after the release", crashes, func(a *account) { a.Crashes++ }, "crashes in all"},
		{"an input given up to the loop", crashes, func(a *account) { a.GivenUp = 1 }, "says nothing of an input"},
		{"a decision that its rules do not explain", limit, func(a *account) { a.Unexplained = 1 }, "explained by the rules"},
		{"a balance that the events do not bear out", limit, func(a *account) { a.Discrepancies = 1 }, "explained by the rules"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, scene := range poisonScenes() {
				if scene.file != c.scene {
					continue
				}
				a := goodAccounts()[c.scene]
				c.spoil(&a)
				checkJudged(t, append(scene.assert(a, resultsOf(t, poisonScenario(t, scene))), a.common()...), c.broken)
			}
		})
	}
}

func checkJudged(t *testing.T, all []assertion, broken string) {
	t.Helper()
	found := false
	for _, j := range all {
		if broken == "" && !j.holds {
			t.Errorf("it is said not to hold that: %s", j.says)
		}
		found = found || !j.holds && strings.Contains(j.says, broken)
	}
	if broken != "" && !found {
		t.Errorf("nothing with %q is said not to hold: %+v", broken, all)
	}
}
