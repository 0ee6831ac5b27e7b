package relay

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHome(t *testing.T) {
	user := t.TempDir()
	t.Setenv("HOME", user)
	t.Setenv("USERPROFILE", user)
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	abs := t.TempDir()
	for name, c := range map[string]struct {
		env  map[string]string
		want string
	}{
		"default":              {nil, filepath.Join(user, ".local", "share", "cmemd")},
		"XDG":                  {map[string]string{"XDG_DATA_HOME": abs}, filepath.Join(abs, "cmemd")},
		"relative XDG is none": {map[string]string{"XDG_DATA_HOME": "x"}, filepath.Join(user, ".local", "share", "cmemd")},
		"own":                  {map[string]string{"XDG_DATA_HOME": user, "CMEMD_HOME": abs}, abs},
		"own, not clean":       {map[string]string{"CMEMD_HOME": abs + "//x/../"}, abs},
		"own, relative":        {map[string]string{"CMEMD_HOME": "x"}, filepath.Join(cwd, "x")},
	} {
		got, err := Home(func(k string) string { return c.env[k] })
		if err != nil || got != c.want {
			t.Errorf("%s: Home = %s, %v; want %s", name, got, err, c.want)
		}
	}
}

// TestRelativeUserHome: what a relative HOME names depends on the folder that somebody is in; nothing is put there.
func TestRelativeUserHome(t *testing.T) {
	t.Setenv("HOME", "proj")
	t.Setenv("USERPROFILE", "proj")
	none := func(string) string { return "" }
	if got, err := Home(none); !errors.Is(err, ErrNoHome) {
		t.Errorf("got %s, %v; want ErrNoHome", got, err)
	}
}

func TestSocketPath(t *testing.T) {
	runtime := t.TempDir()
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/1000")
	if got, want := SocketPath("/home/x/.local/share/cmemd/"), "/home/x/.local/share/cmemd/run/cmemd.sock"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	fits := "/" + strings.Repeat("x", maxSocketPath-len("//run/cmemd.sock"))
	if got := SocketPath(fits); len(got) != maxSocketPath || !strings.HasPrefix(got, fits) {
		t.Errorf("a path of %d bytes: got %s", maxSocketPath, got)
	}
	long := fits + "x"
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(long)))[:16]
	if got, want := SocketPath(long), "/run/user/1000/cmemd-"+hash+".sock"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	fallback := filepath.Join(tmp, fmt.Sprintf("cmemd-%d", os.Getuid()), hash+".sock")
	for _, dir := range []string{"", "relative", filepath.Join(runtime, strings.Repeat("y", maxSocketPath))} {
		t.Setenv("XDG_RUNTIME_DIR", dir)
		if got := SocketPath(long); got != fallback {
			t.Errorf("with XDG_RUNTIME_DIR=%s: got %s, want %s", dir, got, fallback)
		}
	}
}

// TestForeignSocketFolder: what a stranger may listen at is not posted to, and does not count as an absent daemon.
func TestForeignSocketFolder(t *testing.T) {
	tmp := shortHome(t)
	t.Setenv("TMPDIR", tmp)
	t.Setenv("XDG_RUNTIME_DIR", "")
	home := filepath.Join(t.TempDir(), strings.Repeat("x", maxSocketPath))
	d := startDaemon(t, home, says("HTTP/1.1 204 OK\r\n\r\n"))
	if r := runHook(t, Config{Home: home, Stdin: strings.NewReader(toolUse)}); r.Outcome != Posted {
		t.Fatalf("in a folder of our own: %+v", r)
	}
	dir := filepath.Dir(SocketPath(home))
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := MakeSocketDir(SocketPath(home)); !errors.Is(err, ErrSocketDir) {
		t.Errorf("MakeSocketDir = %v, want ErrSocketDir", err)
	}
	started := false
	r := runHook(t, Config{
		Home: home, Stdin: strings.NewReader(toolUse), Start: func(string) error { started = true; return nil },
	})
	if r.Outcome != Spooled || !errors.Is(r.Err, ErrSocketDir) || started || len(d.bodies) != 1 {
		t.Errorf("in a folder open to all: %+v, started %v, %d posted; want Spooled", r, started, len(d.bodies))
	}
}

// TestAdvertisedSocket: a daemon with another runtime folder is found by what it wrote down.
func TestAdvertisedSocket(t *testing.T) {
	t.Parallel()
	home, elsewhere := shortHome(t), shortHome(t)
	socket := filepath.Join(elsewhere, "x.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		says("HTTP/1.1 204 OK\r\n\r\n")(&daemon{}, conn)
	}()
	if err := os.MkdirAll(filepath.Join(home, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"pid":1,"start_time":"x","boot_id":"y","addr":"127.0.0.1:37911","socket":%q,"version":"1"}`, socket)
	if err := os.WriteFile(filepath.Join(home, "run", "daemon.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := runHook(t, Config{Home: home, Stdin: strings.NewReader(toolUse)}); r.Outcome != Posted {
		t.Errorf("got %+v, want Posted", r)
	}
}
