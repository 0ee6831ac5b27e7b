package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/setting"
)

func writeHome(t *testing.T, settings string) string {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, FileName), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// TestSettingsTable holds every line of the table to what it promises.
func TestSettingsTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	standard := Standard().Settings()
	for i, s := range new(Config).Settings() {
		if seen[s.Key] || s.Doc == "" || s.Limits == "" || strings.ToLower(s.Key) != s.Key {
			t.Errorf("%s: given twice, or without doc or limits", s.Key)
		}
		seen[s.Key] = true
		if !s.Set(s.Standard) {
			t.Errorf("%s: its default %q is not allowed", s.Key, s.Standard)
		}
		if got := s.Get(); got != s.Standard || standard[i].Get() != s.Standard {
			t.Errorf("%s: the default reads %q, want %q", s.Key, got, s.Standard)
		}
		refused := []string{"-1", "nonsense", "99999999999999999999", "1e9", "0x10", "1.2.3.4", "0.0.0.0:80"}
		if open := s.Kind == setting.KindText || s.Kind == setting.KindList; open && s.Words == nil && !strings.Contains(s.Limits, " address ") && !strings.Contains(s.Limits, " path") {
			refused = []string{"a\nb", "a\x1b[31m", "-\x00"}
		}
		for _, bad := range refused {
			if s.Set(bad) {
				t.Errorf("%s takes %q", s.Key, bad)
			}
		}
		if s.Kind != setting.KindText && s.Kind != setting.KindList && s.Set("") {
			t.Errorf("%s takes nothing", s.Key)
		}
	}
}

// TestSettingsWrittenBack takes every default through a file.
func TestSettingsWrittenBack(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	for _, s := range new(Config).Settings() {
		value := `"` + s.Standard + `"`
		if s.Kind == setting.KindNumber {
			value = s.Standard
		}
		file.WriteString(s.Key + " = " + value + "\n")
	}
	l, err := Load(writeHome(t, file.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Standard().Config, l.Config); diff != "" {
		t.Errorf("-default +file\n%s", diff)
	}
	for i, s := range l.Settings() {
		if want := fmt.Sprintf("%s:%d", FileName, i+1); l.From[s.Key] != want {
			t.Errorf("%s comes from %s, want %s", s.Key, l.From[s.Key], want)
		}
	}
}

func TestLoadConfig(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file string
		env        []string
		key        string // whose value and source are looked at
		value      string
		from       string
		err        string // part of it
	}{
		{name: "nothing set", key: "slots", value: "2", from: "default"},
		{name: "a number", file: "# two is not enough\nslots = 3\n", key: "slots", value: "3", from: "config.toml:2"},
		{name: "a duration", file: `idle_stop = "45m"`, key: "idle_stop", value: "45m", from: "config.toml:1"},
		{name: "bytes in words", file: `min_free_bytes = "128MiB"`, key: "min_free_bytes", value: "128MiB", from: "config.toml:1"},
		{name: "bytes as a number", file: `min_free_bytes = 1048576`, key: "min_free_bytes", value: "1MiB", from: "config.toml:1"},
		{name: "no port", file: `listen = ""`, key: "listen", value: "", from: "config.toml:1"},
		{name: "IPv6", file: `listen = "[::1]:8080"`, key: "listen", value: "[::1]:8080", from: "config.toml:1"},
		{name: "a quoted key", file: `"slots" = 4`, key: "slots", value: "4", from: "config.toml:1"},
		{name: "the environment wins", file: "slots = 3", env: []string{"CMEMD_SLOTS=5"}, key: "slots", value: "5", from: "CMEMD_SLOTS"},
		{name: "an empty variable is a value", env: []string{"CMEMD_LISTEN="}, key: "listen", value: "", from: "CMEMD_LISTEN"},
		{name: "switches are no settings", env: []string{"CMEMD_HOME=/x", "CMEMD_NO_START=1", "PATH=/bin"}, key: "slots", value: "2", from: "default"},

		{name: "out of range", file: "\n\nslots = 0\n", err: "config.toml:3: slots = 0 is not allowed: it may be a whole number, 1 to 64"},
		{name: "too much for a number", file: "slots = 99999999999", err: "config.toml:1: slots = 99999999999 is not allowed"},
		{name: "a number as text", file: `slots = "3"`, err: `config.toml:1: slots = "3" is not allowed: it may be a whole number`},
		{name: "a duration without a unit", file: "idle_stop = 30", err: `idle_stop = 30 is not allowed: it may be a duration such as "30m", 1s to 24h`},
		{name: "a word that is not known", file: `log_level = "loud"`, err: `log_level = "loud" is not allowed: it may be debug, info, warn, error`},
		{name: "another machine", file: `listen = "0.0.0.0:37911"`, err: `listen = "0.0.0.0:37911" is not allowed: it may be a loopback address with a port, or empty`},
		{name: "a list", file: "slots = [1,2]", err: "config.toml:1: slots = a list is not allowed"},
		{name: "a fraction", file: "slots = 1.5", err: "config.toml:1: slots = 1.5 is not allowed"},
		{name: "a slip", file: "slot = 3", err: "config.toml:1: unknown key slot: did you mean slots?"},
		{name: "another slip", file: `idlestop = "3m"`, err: "did you mean idle_stop?"},
		{name: "nothing like it", file: "colour = 3", err: "config.toml:1: unknown key colour: `cmemd config show --all` lists"},
		{name: "in a table", file: "[daemon]\nslots = 3", err: "config.toml:2: unknown key daemon.slots"},
		{name: "an empty table", file: "[daemon]\n", err: "config.toml:1: unknown key daemon"},
		{name: "twice", file: "slots = 3\nslots = 4", err: "config.toml:2: "},
		{name: "no TOML", file: "slots = 3\nidle_stop = \n", err: "config.toml:2: "},
		{name: "a variable out of range", env: []string{"CMEMD_SLOTS=many"}, err: `environment: CMEMD_SLOTS = "many" is not allowed: it may be a whole number, 1 to 64`},
		{name: "a variable that is not known", env: []string{"CMEMD_SLOT=1"}, err: "environment: unknown key CMEMD_SLOT: did you mean CMEMD_SLOTS?"},
		{name: "all of them are told", file: "slot = 3\nmax_restarts = 0", err: "max_restarts = 0"},
		{name: "escapes", file: "\"a\\u001b[31m\" = 3", err: `unknown key a\x1b[31m`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, err := LoadWithVariables(writeHome(t, c.file), c.env)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("got error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := l.Values()[c.key]; got != c.value || l.From[c.key] != c.from {
				t.Errorf("%s = %q from %s, want %q from %s", c.key, got, l.From[c.key], c.value, c.from)
			}
		})
	}
}

func TestLoadConfigWithoutFile(t *testing.T) {
	t.Parallel()
	l, err := Load(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Standard().Config, l.Config); diff != "" {
		t.Error(diff)
	}
}

func TestLoadConfigKeepsWhatIsGood(t *testing.T) {
	t.Parallel()
	l, err := Load(writeHome(t, "slots = 7\nmax_restarts = 0\n"), nil)
	var bad *settingError
	if !errors.As(err, &bad) || bad.Key != "max_restarts" {
		t.Fatalf("got error %v, want one about max_restarts", err)
	}
	if l.Slots != 7 || l.Sessions.Restarts != Standard().Sessions.Restarts {
		t.Errorf("slots = %d, max_restarts = %d", l.Slots, l.Sessions.Restarts.Max)
	}
}

// FuzzConfig holds any file to: an error that says where, or settings that are all within their limits.
func FuzzConfig(f *testing.F) {
	for _, s := range []string{"slots = 3", "[a]\nb=1", "a.b = 1", "x = {y=1}", "idle_stop = \"1h\"", "\xff", "slots=1\nslots=2", "[[a]]", "a = 1979-05-27"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l := Standard()
		lines, err := parseTOML(data)
		for _, line := range lines {
			if !strings.HasPrefix(line.where, FileName+":") || strings.HasSuffix(line.where, ":0") {
				t.Fatalf("%q: a line at %q", data, line.where)
			}
			_ = l.apply(line) // what is refused changes nothing
		}
		if err != nil && !strings.ContainsAny(err.Error()[:1], "123456789 ") {
			t.Fatalf("%q: %v", data, err)
		}
		for _, s := range l.Settings() {
			if value := s.Get(); !s.Set(value) {
				t.Fatalf("%q sets %s = %s", data, s.Key, value)
			}
		}
	})
}

// TestChangesThatCannotBeLocked: only where another command holds the file there is a use in trying again.
func TestChangesThatCannotBeLocked(t *testing.T) {
	t.Parallel()
	home := writeHome(t, "")
	if err := os.Mkdir(filepath.Join(home, "."+FileName+".lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := WriteChanges(t.Context(), &terminal.App{}, home, nil)
	if err == nil || terminal.NextStep(err) != "" {
		t.Errorf("got %v, next %q", err, terminal.NextStep(err))
	}
}
