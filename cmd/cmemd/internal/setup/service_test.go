package setup

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
)

// TestSystemdTakesTheUnit has systemd itself read the unit of a program and a home with names that are hard to write.
func TestSystemdTakesTheUnit(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed here")
	}
	for _, dir := range []string{"plain", "two words", `100% of $HOME`, "o'brien", `$HOME "q" \b; ü`, "a\ttab"} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), dir)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			program := filepath.Join(dir, "cmemd")
			if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			unit := filepath.Join(t.TempDir(), unitName)
			if err := os.WriteFile(unit, []byte(systemdUnit(program, dir)), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(analyze, "verify", "--man=no", unit).CombinedOutput()
			if strings.Contains(string(out), "Failed to ") && !strings.Contains(string(out), unitName) {
				t.Skipf("systemd-analyze does not work here: %s", out)
			}
			if err != nil || strings.Contains(string(out), unitName) {
				t.Errorf("%v: %s\n%s", err, out, systemdUnit(program, dir))
			}
		})
	}
}

func TestSystemdWord(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"/usr/bin/cmemd": "/usr/bin/cmemd", "/a b": `"/a b"`, "/100%": "/100%%", "/$x": "/$x", `/"`: `"/\""`, `/a\b`: `"/a\\b"`, "A=/x": "A=/x",
	} {
		if got := systemdWord(word); got != want {
			t.Errorf("%s: got %s, want %s", word, got, want)
		}
	}
}

// TestPlist: the file for launchd is XML, and says what is to be run where.
func TestPlist(t *testing.T) {
	t.Parallel()
	s, ok := serviceFor("darwin", "/Users/me", "/Users/me/.config", "/opt/<&>/cmemd", "/Users/me/my memory")
	if !ok || s.path != "/Users/me/Library/LaunchAgents/dev.cmemd.daemon.plist" {
		t.Errorf("%v, %s", ok, s.path)
	}
	var words []string
	for d := xml.NewDecoder(strings.NewReader(s.text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, s.text)
		}
		if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
			words = append(words, string(text))
		}
	}
	all := strings.Join(words, "|")
	for _, want := range []string{"Label|dev.cmemd.daemon", "ProgramArguments|/opt/<&>/cmemd|serve|", "CMEMD_HOME|/Users/me/my memory", "Umask|63"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in %q", want, all)
		}
	}
	if _, ok := serviceFor("windows", "", "", "", ""); ok {
		t.Error("a service for Windows")
	}
}

// TestServiceCommands: what the systems are told to start the daemon and to forget it.
func TestServiceCommands(t *testing.T) {
	t.Parallel()
	domain := fmt.Sprintf("gui/%d", os.Getuid())
	for goos, want := range map[string]struct{ start, stop []string }{
		"linux": {
			[]string{"systemctl --user daemon-reload", "systemctl --user enable cmemd.service", "systemctl --user restart cmemd.service"},
			[]string{"systemctl --user disable --now cmemd.service"},
		},
		"darwin": {
			[]string{"launchctl enable " + domain + "/dev.cmemd.daemon", "launchctl bootstrap " + domain + " /p/Library/LaunchAgents/dev.cmemd.daemon.plist"},
			[]string{"launchctl bootout " + domain + "/dev.cmemd.daemon"},
		},
	} {
		s, ok := serviceFor(goos, "/p", "/p/.config", "/opt/cmemd", "/p/.cmemd")
		if !ok {
			t.Fatalf("no service for %s", goos)
		}
		for kind, c := range map[string]struct {
			got  [][]string
			want []string
		}{"start": {s.start, want.start}, "stop": {s.stop, want.stop}} {
			var lines []string
			for _, argv := range c.got {
				lines = append(lines, strings.Join(argv, " "))
			}
			if diff := cmp.Diff(c.want, lines); diff != "" {
				t.Errorf("%s, %s: -want +got:\n%s", goos, kind, diff)
			}
		}
	}
}

// launchctl is one that refuses to put in what it knows and what is disabled, and that takes a while to forget.
const launchctl = `#!/bin/sh
echo "$1" >> "$LAUNCHD/calls"
case "$1" in
bootout) test -e "$LAUNCHD/known" && mv "$LAUNCHD/known" "$LAUNCHD/ending" || { echo 'Boot-out failed: 3: No such process'; exit 3; } ;;
print) test -e "$LAUNCHD/known" && exit 0; test -e "$LAUNCHD/ending" && { mv "$LAUNCHD/ending" "$LAUNCHD/last"; exit 0; }; rm "$LAUNCHD/last"; exit 113 ;;
enable) rm -f "$LAUNCHD/disabled" ;;
bootstrap) test -e "$LAUNCHD/disabled" -o -e "$LAUNCHD/known" -o -e "$LAUNCHD/ending" -o -e "$LAUNCHD/last" && { echo 'Bootstrap failed: 5: Input/output error'; exit 5; }; : > "$LAUNCHD/known" ;;
esac
`

// TestLaunchdTakesItTwice: what launchd knows already is forgotten first, wholly, and then put in again; what somebody disabled is enabled.
func TestLaunchdTakesItTwice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no sh")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "launchctl"), []byte(launchctl), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("LAUNCHD", dir)
	if err := os.WriteFile(filepath.Join(dir, "disabled"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	s, _ := serviceFor("darwin", dir, dir, "/opt/cmemd", home)
	for range 2 {
		if err := startService(t.Context(), s, homedir.PathsOf(home)); err != nil {
			t.Fatal(err)
		}
	}
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	want := "bootout print enable bootstrap bootout print print enable bootstrap"
	if got := strings.Join(strings.Fields(string(calls)), " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestForeignService: a file that somebody else wrote is none of cmemd's, whatever is in it.
func TestForeignService(t *testing.T) {
	t.Parallel()
	for _, goos := range []string{"linux", "darwin"} {
		s, _ := serviceFor(goos, t.TempDir(), t.TempDir(), "/opt/cmemd", "/h")
		if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := s.read(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: without a file: %v", goos, err)
		}
		for text, want := range map[string]error{
			s.text: nil, strings.ReplaceAll(s.text, "/opt", "/usr"): nil, "": errForeignService, "[Service]\nExecStart=cmemd serve\n": errForeignService,
		} {
			if err := os.WriteFile(s.path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := s.read(); got != text || !errors.Is(err, want) {
				t.Errorf("%s: %q: got %v, want %v", goos, text, err, want)
			}
		}
	}
}

// TestHomeOfService: the home is read out of the file as it was written, a link to it leads to the same one, and a file that names none
// is no other home's.
func TestHomeOfService(t *testing.T) {
	t.Parallel()
	for _, goos := range []string{"linux", "darwin"} {
		for _, name := range []string{"plain", "two words", `100% of $HOME`, "o'brien", `$HOME "q" \b; ü`, "a\ttab", "<&>;"} {
			home := filepath.Join(t.TempDir(), name)
			s, _ := serviceFor(goos, "/p", "/p/.config", "/opt/cmemd", home)
			if got := s.homeIn(s.text); got != home {
				t.Errorf("%s: got %q, want %q", goos, got, home)
			}
		}
		dir := t.TempDir()
		home, link := filepath.Join(dir, "home"), filepath.Join(dir, "link")
		if err := errors.Join(os.Mkdir(home, 0o700), os.Symlink(home, link)); err != nil {
			t.Fatal(err)
		}
		s, _ := serviceFor(goos, "/p", "/p/.config", "/opt/cmemd", home)
		for other, want := range map[string]error{link: nil, filepath.Join(dir, "gone"): errOtherHome, dir: errOtherHome} {
			o, _ := serviceFor(goos, "/p", "/p/.config", "/opt/cmemd", other)
			if err := o.checkHome(s.text); !errors.Is(err, want) || o.isOfHome(s.text) != (want == nil) {
				t.Errorf("%s: %s: got %v, want %v", goos, other, err, want)
			}
		}
		if err := s.checkHome(writtenBy); err != nil || s.isOfHome(writtenBy) {
			t.Errorf("%s: of no home: %v", goos, err)
		}
	}
}
