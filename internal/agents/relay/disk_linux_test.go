package relay

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// mountSmall returns a folder on a file system of 256 KiB of its own; it needs root.
func mountSmall(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("relaytest", dir, "tmpfs", 0, "size=256k,mode=700"); err != nil {
		t.Skipf("cannot mount here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	home := mountSmall(t)
	keyed(t, home)
	spooled := runHook(t, Config{Home: home, Stdin: strings.NewReader(toolUse)})
	if spooled.Outcome != Spooled {
		t.Fatalf("with room: %+v", spooled)
	}
	big := `{"hook_event_name":"PostToolUse","tool_response":"` + strings.Repeat("x", 400<<10) + `"}`
	lost := runHook(t, Config{Home: home, Stdin: strings.NewReader(big)})
	if lost.Outcome != Lost || !strings.Contains(lost.Err.Error(), "no space left") {
		t.Errorf("without room: %+v, want Lost", lost)
	}
	if left, err := os.ReadDir(filepath.Join(home, "spool", "tmp", "sealed")); err != nil || len(left) != 0 {
		t.Errorf("left in tmp: %v, %v", left, err)
	}
	if names := waiting(t, home); len(names) != 1 {
		t.Errorf("in new: %v, want the first one only", names)
	}
	if u, err := ReadUnanswered(home); err != nil || u.Lost != 1 || !strings.Contains(u.LostReason, "no space left") || strings.Contains(u.LostReason, "spool: ") {
		t.Errorf("written down: %+v, %v; want one loss", u, err)
	}
}

func TestReadOnlyHome(t *testing.T) {
	t.Parallel()
	home := mountSmall(t)
	if err := syscall.Mount("relaytest", home, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skipf("cannot mount here: %v", err)
	}
	started := false
	r := runHook(t, Config{Home: home, Stdin: strings.NewReader(toolUse), Start: func(string) error { started = true; return nil }})
	if r.Outcome != Lost || started {
		t.Errorf("got %+v, started %v; want Lost and no daemon", r, started)
	}
}

// TestLossesAreCountedWithoutAFreeByte fills the disk to its last block: each payload that can be neither posted nor kept is counted.
func TestLossesAreCountedWithoutAFreeByte(t *testing.T) {
	t.Parallel()
	home := mountSmall(t)
	keyed(t, home)
	if err := LayNotes(home); err != nil {
		t.Fatal(err)
	}
	fill, err := os.Create(filepath.Join(home, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = fill.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := fill.Close(); err != nil {
		t.Fatal(err)
	}
	const hooks = 5
	for range hooks {
		if r := runHook(t, Config{Home: home, Stdin: strings.NewReader(toolUse)}); r.Outcome != Lost {
			t.Errorf("got %+v, want Lost", r)
		}
	}
	if u, err := ReadUnanswered(home); err != nil || u.Lost != hooks || u.Count != hooks || !strings.Contains(u.LostReason, "no space left") {
		t.Errorf("written down: %+v, %v; want %d losses", u, err, hooks)
	}
}
