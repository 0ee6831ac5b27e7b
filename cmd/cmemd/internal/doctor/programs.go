package doctor

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/programs"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/relay"
)

// checkPrograms looks whether the programs of this installation are whole and of one version, and whether a shell or a hook may find
// another one.
func checkPrograms(ctx context.Context, x *examination) []finding {
	self, err := os.Executable()
	if err != nil {
		return []finding{unknown("where this program is: %v", err)}
	}
	return append(x.checkHookProgram(ctx, self), x.checkCopies(ctx, self)...)
}

// checkHookProgram looks at the small program that agents start: the one beside this program, else the first on PATH.
func (x *examination) checkHookProgram(ctx context.Context, self string) []finding {
	hook := filepath.Join(filepath.Dir(self), "cmemd-hook"+programs.Ext(self))
	if _, err := os.Stat(hook); err != nil {
		if hook, err = exec.LookPath("cmemd-hook"); err != nil || !filepath.IsAbs(hook) {
			return []finding{note("install it as cmemd was installed, then `cmemd install`; `cmemd upgrade --dry-run` says how that was",
				"there is no cmemd-hook beside %s or on PATH: agents wait longer for `cmemd hook`", self)}
		}
	}
	switch version, err := programs.AskVersion(ctx, hook, programs.HookVersion); {
	case err != nil:
		return []finding{faulty("install it anew, as cmemd was installed; `cmemd upgrade --dry-run` says how that was", "%s: %v", hook, err)}
	case version != x.app.Version:
		return []finding{faulty("install both of one release; `cmemd upgrade --dry-run` says how this one came here",
			"%s is of version %s, and cmemd of %s", hook, terminal.VisibleLine(version), x.app.Version)}
	}
	return nil
}

// checkCopies looks at every other cmemd that a shell or a hook would find.
func (x *examination) checkCopies(ctx context.Context, self string) (out []finding) {
	for _, path := range x.otherCopies(self) {
		switch version, err := programs.AskVersion(ctx, path, programs.CommandVersion); {
		case err != nil:
			out = append(out, faulty("remove it, or install it anew", "%s: %v", path, err))
		case version != x.app.Version:
			out = append(out, note("keep one, and remove the other as it was installed; `cmemd upgrade --dry-run`, run with each, says how",
				"%s is of version %s, and this one, %s, of %s", path, terminal.VisibleLine(version), self, x.app.Version))
		}
	}
	return out
}

// otherCopies are the programs called cmemd on PATH, in the home, and where hooks start one, each file once and without the one at self.
func (x *examination) otherCopies(self string) (paths []string) {
	name := "cmemd" + programs.Ext(self)
	candidates := []string{filepath.Join(programs.Dir(x.paths.Home), name)}
	for _, dir := range filepath.SplitList(x.app.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			candidates = append(candidates, filepath.Join(dir, name))
		}
	}
	if p, err := relay.ReadPrograms(x.paths.Home); err == nil && p.Cmemd != "" {
		candidates = append(candidates, p.Cmemd)
	}
	var seen []os.FileInfo
	if info, err := os.Stat(self); err == nil {
		seen = append(seen, info)
	}
	for _, path := range candidates {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || sameAsOne(info, seen) {
			continue
		}
		seen, paths = append(seen, info), append(paths, path)
	}
	return paths
}

func sameAsOne(info os.FileInfo, seen []os.FileInfo) bool {
	return slices.ContainsFunc(seen, func(other os.FileInfo) bool { return os.SameFile(info, other) })
}
