package doctor

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/projections/engine"
)

// leftAfter is the age at which a file that is there for a moment only was left, though a daemon is at work.
const leftAfter = time.Minute

// checkModes looks whether others may read a file of the home, as far as its folder lets them.
func checkModes(_ context.Context, x *examination) (out []finding) {
	err := x.walk(func(path string, info fs.FileInfo) {
		if info.Mode().Type() != fs.ModeSymlink && openToOthers(info) {
			out = append(out, note("chmod go-rwx "+path, "others may do something with %s (%s), were the home open", path, info.Mode().Perm()))
		}
	})
	if err != nil {
		return []finding{unknown("%v", err)}
	}
	return out
}

// checkLeftovers looks for what is there for a moment only, and was left by what was ended in between.
func checkLeftovers(_ context.Context, x *examination) (out []finding) {
	err := x.walk(func(path string, info fs.FileInfo) {
		if x.status != nil && x.now.Sub(info.ModTime()).Abs() < leftAfter {
			return
		}
		if strings.Contains(info.Name(), eventlog.HeldPrefix) {
			out = append(out, note("`cmemd log salvage --from` reads it; delete it when nothing in it is missed", "%s was held by a daemon while another file took its place", path))
		} else if isLeftover(x.paths.Home, path, info) {
			out = append(out, note("`cmemd start` removes it, or delete it", "%s was left by what was ended", path))
		}
	})
	if err != nil {
		return []finding{unknown("%v", err)}
	}
	return out
}

// isLeftover reports what is made beside a file in order to take its place.
func isLeftover(home, path string, info fs.FileInfo) bool {
	name := info.Name()
	inTmp := strings.HasPrefix(path, filepath.Join(home, "spool", "tmp")+string(filepath.Separator)) && info.Mode().IsRegular()
	return inTmp || strings.HasPrefix(name, durable.NewPrefix) || strings.HasPrefix(name, probePrefix) ||
		strings.Contains(name, eventlog.CopyMark) || strings.HasSuffix(name, engine.CopySuffix)
}

// walk calls f with all that is below the home, and the home. What goes meanwhile is passed over.
func (x *examination) walk(f func(path string, info fs.FileInfo)) error {
	return filepath.WalkDir(x.paths.Home, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			f(path, info)
		}
		return err
	})
}
