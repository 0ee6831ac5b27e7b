package homedir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// ErrLogLost is a home whose log is not there, or empty, beside files that nothing but a log can have led to.
var ErrLogLost = errors.New("the log is lost")

// ErrLogAway is a home whose log is a link to what is not there: a disk that is not mounted, say. No log is made behind it.
var ErrLogAway = errors.New("the log is not where its link leads")

// CheckLog returns an ErrLogLost or an ErrLogAway where a log that is made now would take the place of one that was there, or where none
// can be made. A home without a log that never had one is well, and so is whatever else the log's file may be: whoever opens it says so.
func (p Paths) CheckLog() error {
	info, err := os.Stat(p.Log)
	if to, notLink := os.Readlink(p.Log); err != nil && notLink == nil {
		return p.checkLink(to)
	}
	if err == nil && (info.Size() > 0 || !info.Mode().IsRegular()) || err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	known := p.derivedFiles()
	if len(known) == 0 {
		return nil
	}
	state := "is not there"
	if err == nil {
		state = "is empty"
	}
	return terminal.Advise(fmt.Errorf("%w: %s %s, though %s was made from it", ErrLogLost, p.Log, state, strings.Join(known, ", ")),
		"put the log or a backup of it back in its place, or one that `cmemd log salvage` made; `cmemd log begin-anew` begins without it, and shows first what is set aside")
}

// checkLink is CheckLog where the log is a link to what is not there. In a home that never had a log one can be made behind it.
func (p Paths) checkLink(to string) error {
	behind := to
	if !filepath.IsAbs(to) {
		behind = filepath.Join(filepath.Dir(p.Log), to)
	}
	_, there := os.Lstat(behind) // a further link leads nowhere
	if _, err := os.Stat(filepath.Dir(behind)); err == nil && errors.Is(there, os.ErrNotExist) && len(p.derivedFiles()) == 0 {
		return nil
	}
	return terminal.Advise(fmt.Errorf("%w: %s leads to %s", ErrLogAway, p.Log, to),
		"bring back what it leads to (is its disk mounted?); or remove the link, and `cmemd log begin-anew` begins without it")
}

// derivedFiles are the files that are there of those that only a daemon makes, and only once it has a log. Commands make a token, and
// hooks a spool, before.
func (p Paths) derivedFiles() []string {
	return existing(filepath.Join(p.Views, "views.db"), p.Index, p.Vectors, p.Forget, p.Watch)
}

func existing(paths ...string) []string {
	return slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Lstat(path)
		return err != nil
	})
}

// ToSetAside are the files of a home without a log that may hold the last copy of something: those are kept when it begins anew.
func (p Paths) ToSetAside() []string { return existing(filepath.Join(p.Views, "views.db"), p.Forget) }
