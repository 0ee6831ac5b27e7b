package providers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/scenarios"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/playback"
	"github.com/cmemd/cmemd/internal/replay"
)

func TestNewProvider(t *testing.T) {
	t.Parallel()
	write := func(name, content string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		name, provider, file string
		model                string // of the provider; empty: there is none
		err                  string
	}{
		{name: "the default", provider: "extractive", model: "rules-17"},
		{name: "no file", provider: "playback", err: "provider = playback needs playback_file"},
		{name: "a missing file", provider: "playback", file: "/nowhere/script.jsonl", err: "no such file"},
		{name: "a bad script", provider: "playback", file: write("s.jsonl", "{\"text\":1}"), err: `line 1: "text": 1 is no text`},
		{name: "a script", provider: "playback", file: write("s.jsonl", "{\"playback\":1,\"model\":\"m\"}\n{\"text\":\"\"}"), model: "m"},
		{name: "a scenario", provider: "playback", file: write("s.json", `{"id":"s1","respawn":{"delay_ms":0,"output":"","tokens":{"in":0,"out":0}},`+
			`"end_ms":9,"events":[{"at_ms":1,"kind":"exit","output":"","tokens":{"in":0,"out":0}}]}`), model: "s1"},
		{name: "a bad scenario", provider: "playback", file: write("s.json", "{\"text\":\"\"}"), err: "text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := config.Standard()
			l.Provider, l.PlaybackFile = c.provider, c.file
			p, err := Builder{Settings: l}.build(c.provider)
			switch {
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("got %v, want an error with %q", err, c.err)
			case c.err == "" && (err != nil || p.Model() != c.model):
				t.Errorf("got %v, %v, want model %q", p, err, c.model)
			}
		})
	}
}

func TestPlaybackNeedsItsFile(t *testing.T) {
	t.Parallel()
	home := clitest.HomeWith(t, `provider = "playback"`)
	if _, err := config.Load(home, nil); !errors.Is(err, config.ErrNoPlayback) {
		t.Errorf("got %v, want %v", err, config.ErrNoPlayback)
	}
	l, err := config.LoadWithVariables(home, []string{"CMEMD_PLAYBACK_FILE=/a/b.jsonl"})
	if err != nil || l.PlaybackFile != "/a/b.jsonl" {
		t.Errorf("got %q, %v", l.PlaybackFile, err)
	}
	if _, err := config.LoadWithVariables(home, []string{"CMEMD_PLAYBACK_FILE=b.jsonl"}); err == nil || !strings.Contains(err.Error(), "an absolute path, or empty") {
		t.Errorf("a relative path: got %v", err)
	}
}

// TestPlaybackHelpIsTrue reads the lines that the help shows as a script.
func TestPlaybackHelpIsTrue(t *testing.T) {
	t.Parallel()
	var script strings.Builder
	for line := range strings.Lines(playbackHelp) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "{") {
			script.WriteString(line + "\n")
		}
	}
	s, err := playback.Read(strings.NewReader(script.String()))
	if err != nil || len(s.Steps) != 5 {
		t.Fatalf("got %+v, %v, want five steps", s, err)
	}
	const more = `{"text":"a", "when": {"kind": "summary", "contains": "poison.go", "call": 3, "from_ms": 500, "until_ms": 9000}, "delay_ms": 250, "repeat": 4}`
	for _, part := range []string{`"when": {"kind": "summary", "contains": "poison.go", "call": 3, "from_ms": 500, "until_ms": 9000}`, `"delay_ms": 250`, `"repeat": 4`} {
		if !strings.Contains(playbackHelp, part) || !strings.Contains(more, part) {
			t.Errorf("the help does not show %s", part)
		}
	}
	if _, err := playback.Read(strings.NewReader(more)); err != nil {
		t.Error(err)
	}
}

func TestScenarioScript(t *testing.T) {
	t.Parallel()
	got, err := scenarios.Script(&replay.Scenario{ID: "s", Events: []replay.Event{
		{AtMS: 1, Kind: replay.KindObservation, Output: events.NewOutput("a"), Tokens: replay.Tokens{In: 3, Out: 2}},
		{AtMS: 2, Kind: replay.KindSummary, Output: events.Output{}},
		{AtMS: 3, Kind: replay.KindExit},
		{AtMS: 1000, Kind: replay.KindObservation, Output: events.NewOutput("o"), Provider: &replay.Failure{IsError: true, Code: "limit", ResetsMS: 3500}},
		{AtMS: 2000, Kind: replay.KindSummary, Provider: &replay.Failure{IsError: true, Code: "a word of a client", ResetsMS: 1}},
		{AtMS: 2001, Kind: replay.KindSummary, Provider: &replay.Failure{IsError: true, Code: "crash"}},
		{AtMS: 2002, Kind: replay.KindObservation, Output: events.NewOutput("b"), Provider: &replay.Failure{Code: "server"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	observation, summary := playback.When{Kind: events.TurnObservation}, playback.When{Kind: events.TurnSummary}
	want := &playback.Script{Model: "s", BatchLimits: policy.ModelLimits(), Steps: []playback.Step{
		{When: observation, Repeat: 1, Action: playback.Text{Text: "a", Usage: events.Usage{Input: 3, Output: 2}}},
		{When: summary, Repeat: 1, Action: playback.Text{}},
		{Repeat: 1, Action: playback.Crash("the observer ended")},
		{Repeat: 1, Action: playback.Failure{Class: events.FailLimit, Output: "o", ResetsIn: 2500 * time.Millisecond}},
		{Repeat: 1, Action: playback.Failure{Class: events.FailUnknown}},
		{Repeat: 1, Action: playback.Crash("the observer ended")},
		{When: observation, Repeat: 1, Action: playback.Text{Text: "b"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := scenarios.Script(&replay.Scenario{}); err == nil {
		t.Error("a scenario without an event can be played")
	}
}
