//go:build linux || darwin

package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
)

// TestNobodyElseReadsTheHome looks at the rights of all that a daemon and a hook write, in a process that lets others read
// what it makes.
func TestNobodyElseReadsTheHome(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a daemon")
	}
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	w := sweeper{matrixWorld{program: newProgram(t), ctx: ctx, cwd: "/src/shop"}, nil}
	if err := os.MkdirAll(w.home, 0o755); err != nil {
		t.Fatal(err)
	}
	w.runHook([]byte(`{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/src/shop","prompt":"a","prompt_id":"p"}`), 0)
	daemon := w.serve(ctx)
	defer func() { _ = daemon.Process.Kill(); _ = daemon.Wait() }()
	w.client = client.Dial(w.home)
	defer w.client.Close()
	w.await("the spool", func(st api.Status) bool { return st.Spool.Waiting == 0 && st.Ready })
	n := 0
	err := filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return goneIsFine(err)
		}
		info, err := d.Info()
		if err != nil {
			return goneIsFine(err)
		}
		n++
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has %s", strings.TrimPrefix(path, w.home), info.Mode())
		}
		return nil
	})
	if err != nil || n < 15 {
		t.Errorf("%d files: %v", n, err)
	}
}
