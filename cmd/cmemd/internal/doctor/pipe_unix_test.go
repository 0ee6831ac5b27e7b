//go:build unix

package doctor

import (
	"os"
	"syscall"
	"testing"

	"github.com/cmemd/cmemd/internal/api"
)

// TestPipesAreNotWaitedFor has one in the place of files that a home's own checks read.
func TestPipesAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	x := wholeHome(t)
	for _, path := range []string{x.paths.Token, x.paths.LogFile} {
		_ = os.Remove(path)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := checkToken(t.Context(), x)
	if len(got) != 1 || got[0].State != stateWrong || got[0].Mend != "move it away" {
		t.Errorf("a token that is a pipe: %+v", got)
	}
	if _, err := tailOf(x.paths.LogFile); err == nil {
		t.Error("a pipe has an end")
	}
}

// TestWhatIsNoDamage: what a daemon of another version cannot be asked, and what words were forgotten under, is not called damage.
func TestWhatIsNoDamage(t *testing.T) {
	t.Parallel()
	for mend, p := range map[string]*api.Problem{
		"`cmemd restart`":                 {Type: api.ProblemNotFound, Status: 404, Detail: "there is no such path"},
		"`cmemd doctor --deep` once more": {Type: api.ProblemConflict, Status: 409, Title: "Words were forgotten meanwhile"},
	} {
		x := &examination{all: &fullExamination{err: p}}
		for name, check := range map[string]func() []finding{
			"records": func() []finding { return checkRecords(t.Context(), x) }, "balance": func() []finding { return checkBalance(t.Context(), x) },
			"rebuilt": func() []finding { return checkRebuilt(t.Context(), x) }, "ahead": func() []finding { return checkAhead(t.Context(), x) },
			"forgotten": func() []finding { return checkForgotten(t.Context(), x) },
		} {
			if got := check(); len(got) != 1 || got[0].State != stateUnknown || got[0].Mend != mend {
				t.Errorf("%d: %s: %+v", p.Status, name, got)
			}
		}
	}
}
