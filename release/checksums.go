package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// script puts the install script beside what it fetches.
func (r *release) script() error {
	b, err := os.ReadFile(filepath.Join(r.root, "release", "install.sh"))
	if err != nil {
		return err
	}
	return r.put("install.sh", b)
}

// checksums writes checksums.txt over all files of the release, as sha256sum writes and checks it. It is written last: a folder without
// it is no release.
func (r *release) checksums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, e := range entries {
		if e.Name() == madeHere {
			continue
		}
		b, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(b), e.Name())
	}
	return r.put("checksums.txt", []byte(out.String()))
}
