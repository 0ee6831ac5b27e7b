package setup

import (
	"os/exec"
	"strings"
	"testing"
)

// TestExportPath: the line that a person is told to type puts the folder itself on the PATH, whatever is in its name.
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
