package install_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cmemd/cmemd/internal/agents/install"
)

// TestGone: of each agent that runs programs it is told which one is not there any more, whatever it writes its settings in; programs of
// others and words that look like one are none of ours.
func TestGone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("paths are written with other signs")
	}
	for _, a := range install.Agents() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			w := t.TempDir()
			bin := filepath.Join(w, "bin")
			m := install.Machine{OS: "linux", Home: w, Getenv: func(string) string { return "" }}
			o := install.Options{Program: install.Program{Hook: []string{filepath.Join(bin, "cmemd-hook")}, Cmemd: filepath.Join(bin, "cmemd"), Home: w}, Home: w, Settings: true}
			if got := a.Gone(m, o); got != "" {
				t.Errorf("without cmemd: %s", got)
			}
			files, err := a.Whole(m, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				write(t, f.Path, string(f.Text)+"\n")
			}
			if got := a.Gone(m, o); filepath.Dir(got) != bin {
				t.Errorf("without programs: %q", got)
			}
			for _, name := range []string{"cmemd", "cmemd-hook"} {
				write(t, filepath.Join(bin, name), "")
			}
			if got := a.Gone(m, o); got != "" {
				t.Errorf("with both: %s", got)
			}
			if err := os.Remove(filepath.Join(bin, "cmemd")); err != nil {
				t.Fatal(err)
			}
			if got := a.Gone(m, o); got != filepath.Join(bin, "cmemd") {
				t.Errorf("without the command: %q", got)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
