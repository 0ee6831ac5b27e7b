package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// holding lists the files below a folder that hold a word, in any letter case.
func holding(dir, word string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && bytes.Contains(bytes.ToLower(b), []byte(strings.ToLower(word))) {
			files = append(files, path)
		}
		if os.IsNotExist(err) { // it was replaced while we looked
			return nil
		}
		return err
	})
	return files, err
}

// nowhere WORD fails if a file of the home holds a word.
func nowhere(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: nowhere WORD")
	}
	files, err := holding(home(ts).home, args[0])
	ts.Check(err)
	if len(files) > 0 {
		ts.Fatalf("%q is in %v", args[0], files)
	}
}

// somewhere WORD fails unless the log holds a word: it shows that nowhere would find it.
func somewhere(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: somewhere WORD")
	}
	files, err := holding(home(ts).home, args[0])
	ts.Check(err)
	for _, want := range []string{home(ts).log, filepath.Join(home(ts).views, "views.db")} {
		found := false
		for _, f := range files {
			found = found || f == want
		}
		if !found {
			ts.Fatalf("%q is in %v, not in %s", args[0], files, want)
		}
	}
}
