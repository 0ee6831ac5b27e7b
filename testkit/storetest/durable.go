package storetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"testing"

	"github.com/cmemd/cmemd/eventlog/share/store"
)

// RunDurable tests an engine that outlives its process: what was answered is there after Place.Restart.
func RunDurable(t *testing.T, place func(testing.TB) Place) {
	runAll(t, place, map[string]func(*testing.T, *world){"restart": testRestart})
}

func testRestart(t *testing.T, w *world) {
	var first, head, gone store.Rev
	var old store.Store
	for round := range 3 {
		m := &machine{Store: w.Open(t), ctx: w.ctx}
		if round == 0 {
			first = m.mustCreate(t, "s/first", string(noise("first", 100_000)))
			head, gone = m.mustCreate(t, "s/head", "0"), m.mustCreate(t, "s/gone", "")
			m.mustDelete(t, "s/gone", gone)
		}
		m.wantBody(t, "s/first", string(noise("first", 100_000)), first)
		m.wantNone(t, "s/gone")
		m.wantListed(t, "", "s/first", "s/head")
		next := m.mustReplace(t, "s/head", head, "1")
		_, err := m.Replace(w.ctx, "s/head", head, nil)
		wantErr(t, "at a state of an earlier life", err, store.ErrMoved)
		head = next
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		w.Restart(t)
		old = m.Store
	}
	if _, _, err := old.Get(w.ctx, "s/head"); !errors.Is(err, store.ErrClosed) {
		t.Errorf("a store that was closed before: %v", err)
	}
}

// RunKilled has a process that runs a Writer killed with -9 in the middle, several times, and checks what is left. command is such
// a process, given the name of its writer: it tells what was answered on its standard output.
func RunKilled(t *testing.T, place Place, command func(name string) *exec.Cmd) {
	var ledger Ledger
	for round, after := range []int{1, 10, 33, 70} {
		killWriter(t, &ledger, command(string(rune('a'+round))), after)
		s := place.Open(t)
		ledger.Check(t.Context(), t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d objects were created by writers that were killed", len(ledger.Created()))
}

// killWriter reads what a writer tells, and kills it after so many lines.
func killWriter(t *testing.T, ledger *Ledger, cmd *exec.Cmd, after int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	killed := false
	err = ledger.Read(out, func(lines int) {
		if lines == after {
			killed = cmd.Process.Kill() == nil
		}
	})
	_, _ = io.Copy(io.Discard, out)
	if waitErr := cmd.Wait(); err != nil || !killed || waitErr == nil {
		t.Fatalf("the writer ended by itself: %v, %v\n%s", err, waitErr, stderr.Bytes())
	}
}
