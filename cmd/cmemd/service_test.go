package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSystemdTakesTheUnit has systemd itself read the unit of a program and a home with names that are hard to write.
func TestSystemdTakesTheUnit(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed here")
	}
	for _, dir := range []string{"plain", "two words", `100% of $HOME`} {
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
