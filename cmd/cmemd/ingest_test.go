package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTranscripts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, age time.Duration) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	young, old := write("a/young.jsonl", time.Minute), write("z/deep/old.jsonl", time.Hour)
	named := write("a/named.txt", 2*time.Hour)
	write("a/other.json", time.Hour)
	if err := os.Mkdir(filepath.Join(dir, "folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	files, err := transcripts([]string{dir, young, named, filepath.Join(dir, "a", "..", "a", "young.jsonl")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.path)
		if f.size != 2 {
			t.Errorf("%s has %d bytes", f.path, f.size)
		}
	}
	if diff := cmp.Diff([]string{named, old, young}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if _, err := transcripts([]string{filepath.Join(dir, "none")}); !os.IsNotExist(err) {
		t.Errorf("a path that is not there: %v", err)
	}
}
