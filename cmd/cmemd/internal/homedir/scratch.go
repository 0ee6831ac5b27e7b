package homedir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// scratchPrefix begins the names of folders below a home that hold captured text as long as a comparison of observers runs.
const scratchPrefix = "compare-"

// scratchAge is how old what a comparison left is when another takes it away: none takes as long.
const scratchAge = 24 * time.Hour

// MakeScratch makes a folder below a home for what is observed a second time, where nobody else can read it. What a comparison that was
// killed left there is taken away.
func (p Paths) MakeScratch(now time.Time) (string, error) {
	if err := os.MkdirAll(p.Home, 0o700); err != nil {
		return "", err
	}
	_ = p.removeScratch(func(dir string) bool { // what stays is tried again, and goes with the next erasure
		info, err := os.Lstat(dir)
		return err == nil && now.Sub(info.ModTime()) > scratchAge
	})
	return os.MkdirTemp(p.Home, scratchPrefix)
}

// ClearScratch removes all such folders, for what was forgotten may be in them. A comparison that runs fails by that.
func (p Paths) ClearScratch() error { return p.removeScratch(func(string) bool { return true }) }

// removeScratch removes the folders that are chosen.
func (p Paths) removeScratch(chosen func(dir string) bool) error {
	entries, err := os.ReadDir(p.Home)
	errs := []error{err}
	for _, e := range entries {
		if dir := filepath.Join(p.Home, e.Name()); e.IsDir() && strings.HasPrefix(e.Name(), scratchPrefix) && chosen(dir) {
			errs = append(errs, os.RemoveAll(dir))
		}
	}
	return errors.Join(errs...)
}
