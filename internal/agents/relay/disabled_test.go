package relay

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestDisabledSessionsAreCounted: once each, by no name, and told once in their folder.
func TestDisabledSessionsAreCounted(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	hook := func(payload string) {
		t.Helper()
		r := runHook(t, Config{Home: home, Disabled: true, Stdin: strings.NewReader(payload), Start: func(string) error { t.Error("started"); return nil }})
		if r.Outcome != Nothing || r.Err != nil {
			t.Errorf("got %+v", r)
		}
	}
	for _, payload := range []string{
		`{"session_id":"one","cwd":"/src/shop","hook_event_name":"SessionStart"}`,
		`{"session_id":"one","cwd":"/src/shop","hook_event_name":"UserPromptSubmit","prompt":"secret"}`,
		`{"session_id":"two","cwd":"/src/shop/","hook_event_name":"SessionStart"}`,
		`{"conversation_id":"three","cwd":"/src/other","hook_event_name":"x"}`,
		"", "no object",
	} {
		hook(payload)
	}
	now := time.Now()
	d, err := ReadDisabled(home, now)
	if err != nil || d.Sessions != 4 || now.Sub(d.Last) > time.Hour {
		t.Errorf("got %+v, %v; want 4", d, err)
	}
	for _, c := range []struct{ event, folder, want string }{
		{"SessionStart", "/src/nowhere", ""}, {"Stop", "/src/shop", ""}, {"SessionStart", "/src/shop", "Of 2 sessions in this folder"},
		{"SessionStart", "/src/shop", ""}, {"SessionStart", "/src/other", "Of the last session in this folder"},
	} {
		if got := DisabledNotice(home, "claude-code", c.event, c.folder); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("at %s in %s: told %q, want %q", c.event, c.folder, got, c.want)
		}
	}
	hook(`{"session_id":"one","cwd":"/src/shop","hook_event_name":"Stop"}`)
	if got := DisabledNotice(home, "claude-code", "SessionStart", "/src/shop"); got != "" {
		t.Errorf("told again: %q", got)
	}
	if d, err := ReadDisabled(home, now); err != nil || d.Sessions != 4 {
		t.Errorf("what was told is not counted any more: %+v, %v", d, err)
	}
	for _, path := range strings.Fields(filesOf(t, home)) {
		data, err := os.ReadFile(path)
		if err == nil && (strings.Contains(string(data), "shop") || strings.Contains(string(data), "secret") || strings.Contains(path, "one")) {
			t.Errorf("%s says %q", path, data)
		}
	}
	if d, err := ReadDisabled(home, now.Add(disabledAge+time.Hour)); err != nil || d.Sessions != 0 {
		t.Errorf("a month later: %+v, %v", d, err)
	}
}

// TestDisabledSessionsAreBounded: a program that makes up sessions fills no disk, and the newest are known.
func TestDisabledSessionsAreBounded(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := disabledDir(home)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	for n := range maxDisabled {
		name := filepath.Join(dir, sumOf(strconv.Itoa(n)))
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chtimes(name, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	runHook(t, Config{Home: home, Disabled: true, Stdin: strings.NewReader(`{"session_id":"new","cwd":"/src/shop"}`)})
	if d, err := ReadDisabled(home, time.Now()); err != nil || d.Sessions != maxDisabled*9/10 {
		t.Errorf("got %d sessions, %v, want %d", d.Sessions, err, maxDisabled*9/10)
	}
	if got := DisabledNotice(home, "claude-code", "SessionStart", "/src/shop"); !strings.HasPrefix(got, "Of the last session") {
		t.Errorf("the newest is not told: %q", got)
	}
}

// filesOf lists what is in a folder.
func filesOf(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}
