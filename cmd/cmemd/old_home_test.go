package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// oldHomeFile is absolute: scripts run in folders of their own.
var oldHomeFile = sync.OnceValue(func() string {
	path, err := filepath.Abs(filepath.Join("testdata", "home_b68bbbc.tar.gz"))
	if err != nil {
		panic(err)
	}
	return path
})

// oldHome lays out the home that an earlier cmemd left, as it stood at revision b68bbbc: three sessions that the extractor observed,
// one of them forgotten, one whose observer crashed and then spoke prose, a memory and its correction, views and an index, and one
// payload in the spool that nobody has taken yet.
func oldHome(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: oldhome")
	}
	file, err := os.Open(oldHomeFile())
	ts.Check(err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	ts.Check(err)
	for in := tar.NewReader(unzipped); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		ts.Check(err)
		path := filepath.Join(filepath.Dir(home(ts).Home), filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			ts.Check(os.MkdirAll(path, 0o700))
			continue
		}
		b, err := io.ReadAll(in)
		ts.Check(err)
		ts.Check(os.WriteFile(path, b, 0o600))
	}
}
