package homedir

import (
	"fmt"
	"io"
	"os"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/durable"
)

// WriteFile has write fill the file at path, which is there only when it is whole and on disk. What checkOverwrite refuses stays.
func WriteFile(a *terminal.App, path string, force bool, write func(io.Writer) error) (size int64, err error) {
	if err := checkOverwrite(a, path, force); err != nil {
		return 0, err
	}
	return durable.ReplaceWith(path, OwnFile, write)
}

// checkOverwrite refuses to write a file that is there, unless force says to replace it. The log of this home, and what is no file, are
// never replaced. Of a path that cannot be looked at, whoever writes there says why.
func checkOverwrite(a *terminal.App, path string, force bool) error {
	named, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	if !force {
		return terminal.Advise(fmt.Errorf("%s is there already", path), "name another file, or replace it with --force")
	}
	if target, err := os.Stat(path); err == nil && !target.Mode().IsRegular() {
		return terminal.Advise(fmt.Errorf("%s is no regular file", path), "name another file; - is standard output, where a command takes it")
	}
	if home, err := a.Home(); err == nil && isLog(PathsOf(home).Log, named) {
		return terminal.Advise(fmt.Errorf("%s is the log itself", path), "name another file")
	}
	return nil
}

// isLog reports whether a file, or a link, is the log at path, or what a link there leads to.
func isLog(path string, file os.FileInfo) bool {
	for _, stat := range []func(string) (os.FileInfo, error){os.Lstat, os.Stat} {
		if log, err := stat(path); err == nil && os.SameFile(log, file) {
			return true
		}
	}
	return false
}
