package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// TestMayStart: programs that the system does not start are found before hooks name them; without the right to run it a file is one, as all are
// on a disk that is mounted with noexec.
func TestMayStart(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no such right")
	}
	for mode, says := range map[os.FileMode]string{0o700: "", 0o600: "noexec"} {
		path := filepath.Join(t.TempDir(), "cmemd")
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho cmemd dev\n"), mode); err != nil {
			t.Fatal(err)
		}
		err := mayStart(t.Context(), path)
		if got := terminal.NextStep(err); (err == nil) != (says == "") || !strings.Contains(got, says) {
			t.Errorf("%v: got %v, next %q; want %q", mode, err, got, says)
		}
	}
}

// TestExportPath: the line that a person is to type puts the folder itself on the PATH, whatever is in its name.
func TestExportPath(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	for _, dir := range []string{"/home/me/.local/share/cmemd/bin", "/home/my self/é", `/home/"$HOME"/it's`, "/home/`id`/a\\b"} {
		out, err := exec.Command("sh", "-c", exportPath(dir)+`; printf %s "$PATH"`).Output()
		if got, _, _ := strings.Cut(string(out), ":"); got != dir || err != nil {
			t.Errorf("%s puts %q on the PATH, %v", exportPath(dir), got, err)
		}
	}
	if got, want := exportPath("/home/me/bin"), `export PATH="/home/me/bin:$PATH"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
