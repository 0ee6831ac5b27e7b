package redact

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGeneralRuleIsQuiet: in this repository's own Go and Markdown, and in all of its testdata, the general rule fires at most
// once in 50 kB. -v tells how often it does.
func TestGeneralRuleIsQuiet(t *testing.T) {
	t.Parallel()
	ids, size, marks := idPrefixes(), 0, 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == ".git" {
				return filepath.SkipDir
			}
			return err
		}
		if ext := filepath.Ext(path); ext != ".go" && ext != ".md" && !strings.Contains(path, "testdata") {
			return nil
		}
		text, err := os.ReadFile(path)
		f := finder{s: string(text)}
		f.general(ids)
		size, marks = size+len(text), marks+len(f.spans)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d marks in %d kB", marks, size/1000)
	if size < 1e6 || marks > size/50e3 {
		t.Errorf("%d marks in %d kB", marks, size/1000)
	}
}
