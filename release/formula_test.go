package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFormula: for each system and processor that Homebrew is for, the formula has the address and the sum of the archive for it, and it
// installs each program. A release for one machine alone has no formula.
func TestFormula(t *testing.T) {
	r := release{out: t.TempDir(), version: "1.2.3"}
	layouts, want := map[target]layout{}, map[string]string{}
	for _, one := range allTargets() {
		layouts[one] = layout{target: one}
		archive, content := r.archiveName(one)+one.extension(), []byte(one.String())
		if err := os.WriteFile(filepath.Join(r.out, archive), content, 0o644); err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(content); one.os != "windows" {
			want[strings.Replace(one.String(), "_", " ", 1)] = homepage + "/releases/download/v1.2.3/" + archive + " " + hex.EncodeToString(sum[:])
		}
	}
	if err := r.formula(map[target]layout{native: layouts[native]}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(r.out, "cmemd.rb")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a formula for one machine: %v", err)
	}
	if err := r.formula(layouts); err != nil {
		t.Fatal(err)
	}
	text := string(read(t, r.out, "cmemd.rb"))
	systems := map[string]string{"macos": "darwin", "linux": "linux", "arm": "arm64", "intel": "amd64"}
	system, got := "", map[string]string{}
	for _, m := range regexp.MustCompile(`on_(macos|linux) do|on_(arm|intel) do\s+url "([^"]*)"\s+sha256 "([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			system = systems[m[1]]
			continue
		}
		got[system+" "+systems[m[2]]] = m[3] + " " + m[4]
	}
	for name, line := range want {
		if got[name] != line {
			t.Errorf("%s: got %q, want %q", name, got[name], line)
		}
	}
	if len(got) != len(want) || strings.Contains(text, "<no value>") || !strings.Contains(text, `version "1.2.3"`) {
		t.Errorf("%s", text)
	}
	for _, program := range programs() {
		if !strings.Contains(text, `"`+program+`"`) {
			t.Errorf("it does not install %s", program)
		}
	}
	if _, err := exec.LookPath("ruby"); err == nil {
		mustRun(t, bare(t), "ruby", "-c", filepath.Join(r.out, "cmemd.rb"))
	}
}
