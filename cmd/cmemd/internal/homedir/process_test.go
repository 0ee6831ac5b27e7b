package homedir

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/internal/process"
)

func TestDaemonFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "daemon.json")
	want := ThisProcess()
	want.Addr, want.Socket, want.Version = "127.0.0.1:37911", "/run/cmemd.sock", "1.2.3"
	if err := want.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := ReadDaemonFile(path)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatalf("-want +got\n%s%v", diff, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if process.BootID() != "" && !got.Lives() {
		t.Error("this process is not alive")
	}
}

// TestReadDaemonFile: a link is followed, and an error of the system is told as it is.
func TestReadDaemonFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "daemon.json"), filepath.Join(dir, "link.json")
	if err := ThisProcess().Write(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no links here:", err)
	}
	if d, err := ReadDaemonFile(link); err != nil || d.PID != os.Getpid() {
		t.Errorf("of a link: %+v, %v", d, err)
	}
	if _, err := ReadDaemonFile(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no file: %v", err)
	}
	for _, wrong := range []string{dir, filepath.Join(dir, "text.json"), filepath.Join(dir, "long.json")} {
		switch filepath.Base(wrong) {
		case "text.json":
			_ = os.WriteFile(wrong, []byte("{"), 0o600)
		case "long.json":
			_ = os.WriteFile(wrong, make([]byte, maxDaemonFile+1), 0o600)
		}
		if _, err := ReadDaemonFile(wrong); err == nil || !strings.Contains(err.Error(), "is not what a daemon writes") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if err := os.Chmod(path, 0); err != nil || os.Geteuid() == 0 || os.PathSeparator != '/' {
		t.Skip("this user may read all")
	}
	_, err := ReadDaemonFile(path)
	if !errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "is not what") {
		t.Errorf("of a file that may not be read: %v", err)
	}
}

// TestSignalOnlyTheSame holds a pid back that has been given to another process since, or of another boot.
func TestSignalOnlyTheSame(t *testing.T) {
	t.Parallel()
	if process.BootID() == "" {
		t.Skip("this system does not tell processes apart")
	}
	child := exec.CommandContext(t.Context(), "sleep", "60")
	if err := child.Start(); err != nil {
		t.Skip("no sleep here:", err)
	}
	d := DaemonFile{Identity: process.Identify(child.Process.Pid)}
	for name, other := range map[string]process.Identity{
		"another start":    {PID: d.PID, StartTime: "1", BootID: d.BootID},
		"another boot":     {PID: d.PID, StartTime: d.StartTime, BootID: "x"},
		"unknown start":    {PID: d.PID, BootID: d.BootID},
		"unknown boot":     {PID: d.PID, StartTime: d.StartTime},
		"the first of all": {PID: 1, StartTime: d.StartTime, BootID: d.BootID},
		"no process":       {StartTime: d.StartTime, BootID: d.BootID},
	} {
		if err := (DaemonFile{Identity: other}).Signal(syscall.SIGKILL); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !d.Lives() {
		t.Fatal("the child is gone")
	}
	if err := d.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
	if d.Lives() {
		t.Error("the child lives on")
	}
}

func TestReadDaemonFileRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := ReadDaemonFile(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	for name, data := range map[string]string{"empty": "", "cut": `{"pid": 12`, "list": "[]", "other": `{"pid": "x"}`, "long": string(make([]byte, maxDaemonFile+1))} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if d, err := ReadDaemonFile(path); err == nil || d.Lives() {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	if _, err := ReadDaemonFile(dir); err == nil {
		t.Error("a folder was read")
	}
}

func TestLoadToken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	first, err := LoadToken(path)
	if err != nil || len(first) != 2*TokenBytes {
		t.Fatalf("%q, %v", first, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if again, err := LoadToken(path); again != first || err != nil {
		t.Errorf("%q, %v; want the same again", again, err)
	}
	if other, _ := LoadToken(filepath.Join(t.TempDir(), "token")); other == first {
		t.Error("two homes have one token")
	}
	if err := os.WriteFile(path, []byte("short\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if token, err := LoadToken(path); err == nil {
		t.Errorf("a short token is taken: %q", token)
	}
}

// TestOlderThan: versions decide where they can be compared; of anything else the program that was put there later is the newer one.
func TestOlderThan(t *testing.T) {
	t.Parallel()
	old := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		daemon, mine string
		theirs, ours time.Time
		want         bool
	}{
		{"v0.1.0", "v0.2.0", old.Add(time.Hour), old, true},
		{"v0.2.0", "v0.1.0", old, old.Add(time.Hour), false},
		{"v0.1.0", "v0.1.0", old, old.Add(time.Hour), false},
		{"v0.0.0-20260131120000-abcdefabcdef", "v0.0.0-20260201120000-abcdefabcdef+dirty", old, old, true},
		{"0.1.0+dirty", "0.1.0+dirty", old, old.Add(time.Second), true},
		{"0.1.0+dirty", "0.1.0+dirty", old, old, false},
		{"0.1.0", "0.0.0-20260201120000-abcdefabcdef", old, old.Add(time.Second), true},
		{"0.1.0", "0.0.0-20260201120000-abcdefabcdef", old.Add(time.Second), old, false},
		{"dev", "dev", old, old.Add(time.Second), true},
		{"dev", "dev", old, old, false},
		{"dev", "dev", old.Add(time.Second), old, false},
		{"v0.1.0", "dev", old, old.Add(time.Second), true},
		{"dev", "v0.1.0", old, old.Add(time.Second), true},
		{"dev", "dev", time.Time{}, old, true}, // of a release that did not write down when its program was put there
		{"dev", "dev", old, time.Time{}, false},
	} {
		if got := (DaemonFile{Version: c.daemon, Program: c.theirs, File: "1-2-3"}).olderThan(c.mine, c.ours, ""); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
	d := DaemonFile{Version: "dev", Program: old, File: "1-2-3"}
	if d.olderThan("dev", old.Add(time.Hour), "1-2-3") || !d.olderThan("dev", old.Add(time.Hour), "1-2-4") {
		t.Error("the same file counts as a newer program, or another one does not")
	}
}

// TestProgramFile: another name, and other rights, make no other program of a file; another file in its place, and what is written into it, do.
func TestProgramFile(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no place of a file on its disk that programFile reads: names and rights do not change its times")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "cmemd")
	named := func() string {
		t.Helper()
		_, file, err := programFile(path)
		if err != nil || file == "" {
			t.Fatal(file, err)
		}
		return file
	}
	write := func(path string, at time.Time) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte("a program"), 0o700), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	write(path, at)
	first := named()
	if err := errors.Join(os.Link(path, path+"-2"), os.Chmod(path, 0o755)); err != nil || named() != first {
		t.Errorf("another name: %q, was %q, %v", named(), first, err)
	}
	write(path+".new", at)
	if err := os.Rename(path+".new", path); err != nil || named() == first {
		t.Errorf("another file of the same time is %q, %v", named(), err)
	}
	first = named()
	if write(path, at.Add(time.Second)); named() == first {
		t.Errorf("what is written into it changes nothing: %q", first)
	}
}
