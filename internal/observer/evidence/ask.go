package evidence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/events"
)

// maxAnswers is how long the answers to one Check may be: two lines of a hash, a kind and a size for each of maxClaims hashes.
const maxAnswers = 1 << 20

// ask decides about claims by what git in dir says of them. What it answered before it failed counts.
func (c *Checker) ask(ctx context.Context, dir string, claims []events.Claim) error {
	var questions strings.Builder
	for i := range claims {
		if h := strings.ToLower(claims[i].Value); isHash(h) {
			questions.WriteString(h + "^{commit}\n" + h + "\n")
		} else {
			claims[i].Evidence = "not a hash"
		}
	}
	said, failure := runGit(ctx, c.cfg, dir, questions.String(), maxAnswers, "cat-file", "--batch-check")
	for i := range claims {
		if claims[i].Evidence != "" {
			continue
		}
		h := strings.ToLower(claims[i].Value)
		var commit, object answer // "missing" is also what git says of another kind of object and of ambiguity
		var err error
		if commit, said, err = nextAnswer(h+"^{commit}", said); err == nil {
			object, said, err = nextAnswer(h, said)
		}
		if err != nil {
			return cmp.Or(failure, err)
		}
		claims[i].Verdict, claims[i].Evidence = verdictOf(h, commit, object)
	}
	return nil
}

func isHash(h string) bool { return len(h) >= 4 && len(h) <= 64 && isLowerHex(h) }

func verdictOf(h string, commit, object answer) (events.Verdict, string) {
	switch {
	case strings.HasPrefix(commit.id, h):
		return events.Verified, commit.id
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

var errNoAnswer = errors.New("git ended: it did not answer")

// nextAnswer reads the answer to a question off what git said, and returns what stands behind it.
func nextAnswer(question, said string) (a answer, rest string, err error) {
	line, rest, whole := strings.Cut(said, "\n")
	if !whole {
		return answer{}, "", errNoAnswer
	}
	line = strings.TrimSuffix(line, "\r")
	if state, ok := strings.CutPrefix(line, question+" "); ok && (state == "missing" || state == "ambiguous") {
		return answer{state: state}, rest, nil
	}
	if f := strings.Fields(line); len(f) == 3 && fullHash(f[0]) != "" {
		switch f[1] {
		case "commit", "tree", "blob", "tag":
			return answer{id: f[0], kind: f[1]}, rest, nil
		}
	}
	return answer{}, "", fmt.Errorf("git ended: git answered %.80q", line)
}
