package testkit_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// page is a document at the top of the repository.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPagesName: a file or folder that a page names is there. Placeholders hold a <.
func TestPagesName(t *testing.T) {
	t.Parallel()
	root := moduleRoot(t)
	tops := regexp.MustCompile(`^(actors|cmd|docs|eventlog|events|internal|projections|testkit)/`)
	for _, name := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", "docs/packages.md", "docs/protoactor.md"} {
		found := 0
		for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(page(t, name), -1) {
			if !tops.MatchString(m[1]) || strings.ContainsAny(m[1], "<{ ") {
				continue
			}
			found++
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s names %s: %v", name, m[1], err)
			}
		}
		if found == 0 && (name == "ARCHITECTURE.md" || name == "CONTRIBUTING.md") {
			t.Errorf("%s names no file: the test looks for the wrong thing", name)
		}
	}
}

// TestArchitectureIsShort: it is read in one go, in any window.
func TestArchitectureIsShort(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSuffix(page(t, "ARCHITECTURE.md"), "\n"), "\n")
	if len(lines) > 200 {
		t.Errorf("ARCHITECTURE.md has %d lines, where 200 may be", len(lines))
	}
	for i, line := range lines {
		if n := utf8.RuneCountInString(line); n > 110 {
			t.Errorf("ARCHITECTURE.md:%d has %d characters, where 110 may be", i+1, n)
		}
	}
}
