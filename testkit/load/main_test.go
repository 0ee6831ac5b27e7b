package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
)

func TestSeedWritesAWholeLog(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	got, err := seed(t.Context(), home, 120)
	if err != nil {
		t.Fatal(err)
	}
	if got.Observations != 150 || got.Sessions != 3 {
		t.Errorf("got %+v, want three sessions of fifty", got)
	}
	log, err := eventlog.OpenReadOnly(filepath.Join(home, "log.db"), eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := eventlog.Verify(t.Context(), log, nil); err != nil {
		t.Error(err)
	}
}

func TestPayloadsAreHooksOfTheirSize(t *testing.T) {
	t.Parallel()
	for _, size := range []int{400, 1000, 65536} {
		b := posting{size: size}.payload(7, 3)
		var p struct {
			Session string `json:"session_id"`
			Tool    string `json:"tool_use_id"`
		}
		if err := json.Unmarshal(b, &p); err != nil || p.Session != "load-3" || !strings.HasSuffix(p.Tool, "_7") {
			t.Errorf("%d: %+v, %v", size, p, err)
		}
		if len(b) < size-60 || len(b) > size+60 {
			t.Errorf("got %d bytes, want about %d", len(b), size)
		}
	}
}

func TestRunRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"hooks"}, {"nap", "-home", "x"}, {"seed", "-nope"}} {
		if err := run(t.Context(), args); err == nil {
			t.Errorf("%q: got no error", args)
		}
	}
}
