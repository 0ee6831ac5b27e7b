package offline

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
)

// TestCopyTo: nothing is replaced unasked, and neither the log nor what is no file at all.
func TestCopyTo(t *testing.T) {
	t.Parallel()
	p, _ := clitest.TempHome(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, path := range []string{p.Log, at("file"), at("target")} {
		if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(at("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"to-file": at("target"), "to-folder": at("folder"), "to-log": p.Log} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Skipf("no link can be made here, as for most on Windows: %v", err)
		}
	}
	a, _, _ := clitest.AppAt(p.Home)
	for _, c := range []struct {
		path  string
		force bool
		want  string // of the error; empty: it is written
	}{
		{at("new"), false, ""},
		{at("file"), false, "is there already"},
		{at("to-file"), false, "is there already"},
		{at("file"), true, ""},
		{at("to-file"), true, ""},
		{at("to-log"), true, ""}, // the link is replaced
		{at("folder"), true, "is no regular file"},
		{at("to-folder"), true, "is no regular file"},
		{p.Log, false, "is there already"},
		{p.Log, true, "is the log itself"},
		{filepath.Join(p.Home, "run", "..", filepath.Base(p.Log)), true, "is the log itself"},
	} {
		asked := false
		err := CopyTo(a, c.path, c.force, func(w io.Writer) error {
			asked = true
			_, err := io.WriteString(w, "after")
			return err
		})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || asked != (c.want == "") {
			t.Errorf("%s, force %t: got %v (written: %t), want %q", c.path, c.force, err, asked, c.want)
		}
	}
	for _, path := range []string{p.Log, at("target")} {
		if text, err := os.ReadFile(path); err != nil || string(text) != "before" {
			t.Errorf("%s has %q, %v", path, text, err)
		}
	}
}

// TestCopyToLinkedLog: where the log is a link to another disk, that is not replaced either.
func TestCopyToLinkedLog(t *testing.T) {
	t.Parallel()
	p, _ := clitest.TempHome(t)
	disk := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(disk, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(disk, p.Log); err != nil {
		t.Skipf("no link can be made here, as for most on Windows: %v", err)
	}
	a, _, _ := clitest.AppAt(p.Home)
	for _, path := range []string{p.Log, disk} {
		if err := CopyTo(a, path, true, func(io.Writer) error { return nil }); err == nil || !strings.Contains(err.Error(), "is the log itself") {
			t.Errorf("%s: got %v", path, err)
		}
	}
}
