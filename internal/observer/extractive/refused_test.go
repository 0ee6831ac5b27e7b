package extractive

import (
	"strings"
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// byPerson is a call that the person refused.
func byPerson(u events.ToolUsed) events.ToolUsed {
	u.Failed, u.Refused, u.Output = true, true, "The user doesn't want to proceed with this tool use."
	return u
}

// TestWhatWasRefusedWasNotDone: a refused edit is no change, and a refused command neither failed nor was put right by what ran later.
func TestWhatWasRefusedWasNotDone(t *testing.T) {
	t.Parallel()
	p := observation("I have written cart.go, which rounds the totals of the cart once. It holds the rule for all currencies.", byPerson(newFile(cwd+"/cart.go")))
	o := one(t, p)
	if want := "The person refused to have cart.go changed"; o.Title != want || len(o.Facts) > 0 && strings.Contains(strings.Join(o.Facts, " "), "Create") {
		t.Errorf("got %q, facts %q, want %q", o.Title, o.Facts, want)
	}
	ran := func(first events.ToolUsed) observer.Observation {
		p := observation("The totals of the cart are rounded once.", first, editFile(cwd+"/cart.go"), ranWell("go test ./..."))
		return one(t, p)
	}
	was, refused := ran(ranBadly("go test ./...", "FAIL")), ran(byPerson(ranBadly("go test ./...", "FAIL")))
	if was.Type != observer.TypeBugfix {
		t.Fatalf("a failing test that passes behind an edit is a %s", was.Type)
	}
	if all := refused.Narrative + strings.Join(refused.Facts, " "); refused.Type == observer.TypeBugfix || strings.Contains(strings.ToLower(all), "fail") {
		t.Errorf("a refused command counts as failed: %+v", refused)
	}
}
