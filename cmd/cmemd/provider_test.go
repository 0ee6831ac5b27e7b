package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/observer/playback"
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
		{name: "the default", provider: "extractive", model: "rules-2"},
		{name: "no file", provider: "playback", err: "provider = playback needs playback_file"},
		{name: "a missing file", provider: "playback", file: "/nowhere/script.jsonl", err: "no such file"},
		{name: "a bad script", provider: "playback", file: write("s.jsonl", "{\"text\":1}"), err: `line 1: "text": 1 is no text`},
		{name: "a script", provider: "playback", file: write("s.jsonl", "{\"playback\":1,\"model\":\"m\"}\n{\"text\":\"\"}"), model: "m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := newProvider(config{Provider: c.provider, PlaybackFile: c.file})
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
	home := homeWith(t, `provider = "playback"`)
	if _, err := loadConfig(home, nil); !errors.Is(err, errNoPlayback) {
		t.Errorf("got %v, want %v", err, errNoPlayback)
	}
	l, err := loadConfig(home, []string{"CMEMD_PLAYBACK_FILE=/a/b.jsonl"})
	if err != nil || l.PlaybackFile != "/a/b.jsonl" {
		t.Errorf("got %q, %v", l.PlaybackFile, err)
	}
	if _, err := loadConfig(home, []string{"CMEMD_PLAYBACK_FILE=b.jsonl"}); err == nil || !strings.Contains(err.Error(), "an absolute path, or empty") {
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
	const more = `{"text":"a", "when": {"kind": "summary", "contains": "poison.go", "call": 3}, "delay_ms": 250, "repeat": 4}`
	for _, part := range []string{`"when": {"kind": "summary", "contains": "poison.go", "call": 3}`, `"delay_ms": 250`, `"repeat": 4`} {
		if !strings.Contains(playbackHelp, part) || !strings.Contains(more, part) {
			t.Errorf("the help does not show %s", part)
		}
	}
	if _, err := playback.Read(strings.NewReader(more)); err != nil {
		t.Error(err)
	}
}
