package homedir

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/agents/relay"
)

// RecordPrograms writes down for a home where this process finds programs, for daemons to come: whoever calls it does so at a person's
// word. cmemd is the command itself.
func RecordPrograms(home, cmemd string) error {
	dirs := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool { return !filepath.IsAbs(dir) })
	p := relay.Programs{
		Path: strings.Join(dirs, string(filepath.ListSeparator)), Cmemd: cmemd, Git: find("git"), Claude: find("claude"),
	}
	p.UserHome, _ = os.UserHomeDir()
	if old, err := relay.ReadPrograms(home); err == nil && old == p {
		return nil
	}
	return p.Write(home)
}

// RecordUserHome writes down for a home whose folder the person's is, where that was not done: from then on no other value of HOME that
// a hook is given reaches a daemon.
func RecordUserHome(home string) error {
	p, err := relay.ReadPrograms(home)
	if err != nil || p.UserHome != "" {
		return err
	}
	if p.UserHome, err = os.UserHomeDir(); err != nil || !filepath.IsAbs(p.UserHome) {
		return nil // nobody can say: the next one may
	}
	return p.Write(home)
}

// find is where a program is; empty: nowhere.
func find(name string) string {
	path, err := exec.LookPath(name)
	if err != nil || !filepath.IsAbs(path) {
		return ""
	}
	return path
}
