package doctor

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/install"
)

// TestCheckAgent tells the ways in which an agent can be that cmemd is not in, or that nothing is known of. The others are in
// testdata/script/doctor_agents.txtar.
func TestCheckAgent(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	x := patientAt(t, now)
	dir := t.TempDir()
	write := func(path string, text string, at time.Time) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	codex, _ := install.ByName("codex")
	store := install.Store{Dir: filepath.Join(dir, "install")}
	machine := install.Machine{OS: "linux", Home: dir, Getenv: x.app.Getenv, LookPath: func(string) (string, error) { return "", fs.ErrNotExist }}
	reported := filepath.Join(x.paths.Run, "reported", "codex")
	expect := func(what string, state checkState, says string) {
		t.Helper()
		c, ok := x.checkAgent(codex, machine, store)
		if ok != (says != "") || ok && (c.State != state || !strings.Contains(c.Detail, says)) {
			t.Errorf("%s: %v %+v, want %s %q", what, ok, c, state, says)
		}
	}
	expect("not there", "", "")
	write(reported, "", now.Add(-3*time.Minute))
	expect("hooks of the person's own", stateOK, "last reported 3m0s ago; `cmemd install` has nothing in it")
	write(reported, "", now.Add(-oldReport))
	expect("hooks of the person's own, long ago", "", "")
	write(filepath.Join(dir, ".codex", "x"), "", now)
	expect("without cmemd", stateNote, "cmemd is not in it")
	write(filepath.Join(dir, "install", "codex.json"), `{"format":99,"agent":"codex"}`, now)
	expect("a newer record", stateWrong, "is not known: a newer cmemd wrote")
	if c, _ := x.checkAgent(codex, machine, store); c.Mend != terminal.NewerStep {
		t.Errorf("a newer record is mended by %q", c.Mend)
	}
}

// TestHeardOf: an agent that was not heard of for long is worth a word, and nothing comes from the future.
func TestHeardOf(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	x := &examination{now: now}
	for _, c := range []struct {
		last  time.Time
		state checkState
		says  string
	}{
		{time.Time{}, stateNote, "it never reported anything"},
		{now.Add(time.Hour), stateOK, "last reported 0s ago"},
		{now.Add(-3 * time.Minute), stateOK, "last reported 3m0s ago"},
		{now.Add(-47 * time.Hour), stateOK, "last reported 47h0m0s ago"},
		{now.Add(-oldReport), stateOK, "last reported 14 days ago"},
		{now.Add(-oldReport - time.Second), stateNote, "last reported 14 days ago"},
		{now.Add(-900 * time.Hour), stateNote, "last reported 37 days ago"},
	} {
		if got := x.reportedAt("it", c.last); got.State != c.state || !strings.HasSuffix(got.Detail, c.says) || (got.Mend != "") != (c.state == stateNote) {
			t.Errorf("%s: got %+v, want %s %q", c.last, got, c.state, c.says)
		}
	}
}
