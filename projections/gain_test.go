package projections

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/gain"
	"github.com/cmemd/cmemd/projections/sessions"
)

// followed is what a test looks at of a told row.
type followed struct {
	row     events.ID
	files   int
	touched []string
	asked   bool
}

func followedIn(t *testing.T, v *Views, s events.SessionID, f gain.Filter) (rows []followed, times int) {
	t.Helper()
	one, err := v.Session(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	told, err := v.InjectedInto(t.Context(), []sessions.Session{one}, f)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range told {
		times += one.Injections
		for _, r := range one.Rows {
			rows = append(rows, followed{r.ID, r.Files, r.Touched, r.Asked})
		}
	}
	return rows, times
}

// edit is a use of a tool on a file of the project of session n.
func (w *world) edit(n int, tool, path string, failed bool) {
	input := `{"file_path":"/home/u/p` + string(rune('0'+n%2)) + `/` + path + `"`
	if tool == "Edit" {
		input += `,"new_string":"x"`
	}
	w.say(sessionOf(n).Stream(), events.ID{}, events.ToolUsed{ToolUseID: w.id().String(), Tool: tool, Input: input + "}", Failed: failed})
}

// observed is an observation of session n that read and changed files.
func (w *world) observed(n int, read, changed []string) events.ID {
	e := events.ObservationParsed{Observation: w.id(), Type: "change", Title: fmt.Sprint("row ", w.ids), FilesRead: read, FilesModified: changed}
	w.say(sessionOf(n).Stream(), w.id(), e)
	return e.Observation
}

func TestToldTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(0)
	cart := w.observed(0, []string{"/home/u/p0/doc.md"}, []string{"/home/u/p0/cart.go"})
	ship := w.observed(0, nil, []string{"ship.go"})
	bare, read := w.observed(0, nil, nil), w.observed(0, []string{"conf.yml"}, nil)
	w.open(2) // of the same project
	w.edit(2, "Edit", "cart.go", false)
	tell := func(n int, hook string, ids ...events.ID) {
		w.say(sessionOf(n).Stream(), events.ID{}, events.ContextInjected{Hook: hook, IDs: ids, Characters: 40})
	}
	tell(2, "startup", cart, ship, bare)
	w.edit(2, "Edit", "ship.go", true)
	v := caughtUp(t, w)
	s := sessionOf(2)
	want := []followed{{cart, 2, nil, false}, {ship, 1, nil, false}, {bare, 0, nil, false}}
	if got, times := followedIn(t, v, s, gain.Filter{}); times != 1 || !cmp.Equal(got, want, cmp.AllowUnexported(followed{})) {
		t.Errorf("what was touched before, and in vain: got %v, want %v", got, want)
	}

	w.edit(2, "Read", "cart.go", false)
	tell(2, "compact", cart, ship)
	tell(2, "file", read) // because it is about to be read
	w.edit(2, "Read", "conf.yml", false)
	w.observed(2, []string{"ship.go"}, nil) // an observation is no use of the row
	w.open(4)
	w.edit(4, "Edit", "ship.go", false) // another session
	w.say(sessionOf(4).Stream(), events.ID{}, events.AgentStopped{Cause: events.StopDone})
	v = caughtUp(t, w)
	want[0].touched = []string{"cart.go"}
	want = append(want, followed{read, 1, nil, false})
	if got, times := followedIn(t, v, s, gain.Filter{}); times != 3 || !cmp.Equal(got, want, cmp.AllowUnexported(followed{})) {
		t.Errorf("what was told again counts once, what is read because it is told does not: got %v, %d times, want %v", got, times, want)
	}

	middle := w.now
	w.edit(2, "Edit", "conf.yml", false)
	w.edit(2, "Edit", "doc.md", false)
	v = caughtUp(t, w)
	want[0].touched, want[3].touched = []string{"cart.go", "doc.md"}, []string{"conf.yml"}
	if got, _ := followedIn(t, v, s, gain.Filter{}); !cmp.Equal(got, want, cmp.AllowUnexported(followed{})) {
		t.Errorf("a change counts: got %v, want %v", got, want)
	}
	if got, times := followedIn(t, v, s, gain.Filter{Since: middle}); times != 0 || got != nil {
		t.Errorf("nothing was told since: got %v", got)
	}
	if got, times := followedIn(t, v, s, gain.Filter{Until: middle.Add(-time.Hour)}); times != 0 || got != nil {
		t.Errorf("nothing was told before: got %v", got)
	}

	// A row that is asked for whole is followed, whatever it is about; not one of another name, and not what was asked before.
	own := func(named ...string) {
		w.say(s.Stream(), events.ID{}, events.ToolUsed{ToolUseID: w.id().String(), Tool: "mcp__cmemd__get", Unobserved: "own", Named: named})
	}
	own("m0", "00000000", fmt.Sprint("m", mustRow(t, v, bare).Position))
	own(ship.String()[:18])
	v = caughtUp(t, w)
	want[1].asked, want[2].asked = true, true
	if got, _ := followedIn(t, v, s, gain.Filter{}); !cmp.Equal(got, want, cmp.AllowUnexported(followed{})) {
		t.Errorf("asked for by handle and by id: got %v, want %v", got, want)
	}

	// A summary is about what its session had changed.
	summed := w.id()
	w.say(sessionOf(0).Stream(), w.id(), events.SummaryParsed{Summary: summed, Completed: "all of it"})
	w.observed(0, nil, []string{"later.go"})
	w.open(6)
	tell(6, "startup", summed)
	w.edit(6, "Read", "ship.go", false)
	w.edit(6, "Read", "conf.yml", false)
	v = caughtUp(t, w)
	if got, _ := followedIn(t, v, sessionOf(6), gain.Filter{}); !cmp.Equal(got, []followed{{summed, 2, []string{"ship.go"}, false}}, cmp.AllowUnexported(followed{})) {
		t.Errorf("a summary is about cart.go and ship.go: got %v", got)
	}

	var about []events.Position
	for _, id := range []events.ID{cart, ship, bare, read} {
		about = append(about, mustRow(t, v, id).Position)
	}
	w.forget(true, about, cart, ship, bare, read)
	v = caughtUp(t, w)
	got, times := followedIn(t, v, s, gain.Filter{})
	for _, r := range got {
		if r.files != 0 || r.touched != nil {
			t.Errorf("a forgotten row is about nothing: %v", r)
		}
	}
	if len(got) != 4 || times != 3 {
		t.Errorf("what was told stays counted: %d rows, %d times", len(got), times)
	}
}
