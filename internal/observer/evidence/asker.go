package evidence

import (
	"context"
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/events"
)

// asker is one Check's way to git. It restarts a child that died, once.
type asker struct {
	checker   *Checker
	repo      *repository
	restarted bool
	fresh     bool // the child was started by this Check
}

// check decides about one claim. After an error nothing more can be asked. Only a child that was started just now is
// believed that there is no commit: an older one may live in a folder that is gone, while another repository has taken
// its place.
func (a *asker) check(ctx context.Context, claim *events.Claim) error {
	err := a.decide(ctx, claim)
	if err != nil || claim.Verdict != events.Absent || a.fresh {
		return err
	}
	if child := a.checker.takeChild(a.repo); child != nil {
		child.close()
	}
	claim.Verdict, claim.Evidence = events.Unknown, ""
	return a.decide(ctx, claim)
}

func (a *asker) decide(ctx context.Context, claim *events.Claim) error {
	h := strings.ToLower(claim.Value)
	if len(h) < 4 || len(h) > 64 || !isLowerHex(h) {
		claim.Evidence = "not a hash"
		return nil
	}
	commit, err := a.ask(ctx, h+"^{commit}")
	if err != nil {
		return err
	}
	if strings.HasPrefix(commit.id, h) {
		claim.Verdict, claim.Evidence = events.Verified, commit.id
		return nil
	}
	object, err := a.ask(ctx, h) // "missing" is also what git says of another kind of object and of ambiguity
	if err != nil {
		return err
	}
	claim.Verdict, claim.Evidence = verdictOf(h, commit, object)
	return nil
}

func verdictOf(h string, commit, object answer) (events.Verdict, string) {
	switch {
	case object.state == "ambiguous":
		return events.Unknown, "ambiguous"
	case object.state == "missing" && commit.state == "missing":
		return events.Absent, "no such object"
	case object.state != "" || !strings.HasPrefix(object.id, h):
		return events.Unknown, "a reference has that name"
	case commit.state == "": // the hash of an annotated tag
		return events.Verified, commit.id
	}
	return events.Absent, "a " + object.kind
}

// answer is a line of git's: the object's full hash and kind, or a state: missing, ambiguous.
type answer struct{ id, kind, state string }

func (a *asker) ask(ctx context.Context, question string) (answer, error) {
	for {
		child, started, err := a.checker.childOf(a.repo)
		if err != nil {
			return answer{}, err
		}
		a.fresh = a.fresh || started
		line, err := child.ask(ctx, question)
		if err == nil {
			ans, ok := readAnswer(question, line)
			if ok {
				return ans, nil
			}
			err = fmt.Errorf("git answered %.80q", line)
		}
		said := a.checker.bury(a.repo, child)
		if said != "" {
			err = fmt.Errorf("git: %s", said)
		}
		if ctx.Err() != nil || a.restarted {
			return answer{}, fmt.Errorf("git ended: %w", err)
		}
		a.restarted = true
	}
}

func readAnswer(question, line string) (answer, bool) {
	if state, ok := strings.CutPrefix(line, question+" "); ok && (state == "missing" || state == "ambiguous") {
		return answer{state: state}, true
	}
	f := strings.Fields(line)
	if len(f) != 3 || fullHash(f[0]) == "" {
		return answer{}, false
	}
	switch f[1] {
	case "commit", "tree", "blob", "tag":
		return answer{id: f[0], kind: f[1]}, true
	}
	return answer{}, false
}
