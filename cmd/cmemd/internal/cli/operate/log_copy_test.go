package operate

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// TestImportKilled: what an import that is killed leaves is removed by who opens the log next: it holds words, and nobody forgets in it.
func TestImportKilled(t *testing.T) {
	t.Parallel()
	from, export := logtest.Open(t, eventlog.Config{}), new(bytes.Buffer)
	if _, err := eventlog.AppendEnd(t.Context(), from, events.Daemon, logtest.Draft("words")); err != nil {
		t.Fatal(err)
	}
	if _, err := eventlog.Export(t.Context(), from, export, 1); err != nil {
		t.Fatal(err)
	}
	home, left := t.TempDir(), t.TempDir()
	in := io.MultiReader(export, readerFunc(func([]byte) (int, error) { // what a kill would leave now
		if err := os.CopyFS(left, os.DirFS(home)); err != nil {
			return 0, err
		}
		return 0, io.EOF
	}))
	if _, err := importBeside(t.Context(), filepath.Join(home, "log.db"), eventlog.Config{}, in); err != nil {
		t.Fatal(err)
	}
	log, err := eventlog.Open(filepath.Join(left, "log.db"), eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]int{home: 1, left: 1} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != want {
			t.Errorf("%v, %v", entries, err)
		}
	}
}

type readerFunc func([]byte) (int, error)

// Read implements io.Reader.
func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
