package projections

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/projections/engine"
)

// TestRecordedSessions folds recorded outputs: the limits must tell sessions whose observer did its job, well or badly, from
// those whose observer did not.
func TestRecordedSessions(t *testing.T) {
	t.Parallel()
	sick := map[string]bool{"all-prose-2485": true, "skip-prose-2955": true, "wedged-burst": true}
	found := map[string]bool{}
	files, err := filepath.Glob(filepath.Join("..", "internal", "replay", "testdata", "scenarios", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded sessions: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		found[name] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := everDegraded(t, file); got != sick[name] {
				t.Errorf("degraded at some moment: got %t, want %t", got, sick[name])
			}
		})
	}
	for name := range sick {
		if !found[name] {
			t.Errorf("there is no recorded session %s", name)
		}
	}
}

// everDegraded plays the outputs of a scenario, all as answers to something notable, and looks after each of them.
func everDegraded(t *testing.T, file string) bool {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var scenario struct {
		Events []struct {
			Kind, Output string
			Provider     struct {
				IsError bool `json:"is_error"`
			}
		}
	}
	if err := json.Unmarshal(b, &scenario); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.notable = 1
	s := w.open(0)
	in := w.tool(s, "")
	v := mustOpen(t, t.TempDir(), w.log, engine.Config{})
	for _, e := range scenario.Events {
		if e.Kind == "exit" || e.Provider.IsError {
			continue
		}
		w.answer(w.start(s, events.TurnKind(e.Kind), in), e.Output)
		h := mustHealth(t, v, time.Time{}, time.Time{})
		for _, f := range h.Findings(w.now) {
			if f.Degraded {
				return true
			}
		}
	}
	return false
}

// answer ends a turn as its output says.
func (w *world) answer(t *worldTurn, output string) {
	p := observer.Parse(output, t.kind, observer.CodeMode().TypeIDs())
	switch p.Disposition {
	case observer.DispositionSkip:
		w.say(t.session.Stream(), t.id, received(t), events.OutputSkipped{Turn: t.id, Reason: string(p.Reason)})
	case observer.DispositionDropped:
		w.say(t.session.Stream(), t.id, received(t), events.OutputDropped{Turn: t.id, Class: string(p.Class), Reason: string(p.Reason)})
	default:
		w.keep(t, "kept")
	}
}
