package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/internal/agents/relay"
)

// TestCheckPrograms lays out half installations and several versions.
func TestCheckPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs are shell scripts here")
	}
	said := func(words string) string { return "#!/bin/sh\necho '" + words + "'\n" }
	for name, c := range map[string]struct {
		files    map[string]string // below a folder of the test's; the program that looks is own/cmemd
		recorded string
		want     map[string]checkState // what is said, and how
	}{
		"whole":           {map[string]string{"own/cmemd-hook": said("cmemd-hook 0.2.0"), "path/cmemd": said("cmemd 0.2.0 (go)")}, "", nil},
		"no hook program": {nil, "", map[string]checkState{"there is no cmemd-hook beside": stateNote}},
		"one on the path": {map[string]string{"path/cmemd-hook": said("cmemd-hook 0.2.0")}, "", nil},
		"a hook of another version": {
			map[string]string{"own/cmemd-hook": said("cmemd-hook 0.1.0"), "path/cmemd-hook": said("cmemd-hook 0.2.0")}, "",
			map[string]checkState{"own/cmemd-hook is of version 0.1.0, and cmemd of 0.2.0": stateWrong},
		},
		"a hook that is broken": {map[string]string{"own/cmemd-hook": "#!/bin/sh\nexit 3\n"}, "", map[string]checkState{"it does not say its version: exit status 3": stateWrong}},
		"something else":        {map[string]string{"own/cmemd-hook": said("hello world")}, "", map[string]checkState{"it is no program of cmemd": stateWrong}},
		"two versions on PATH": {
			map[string]string{"own/cmemd-hook": said("cmemd-hook 0.2.0"), "path/cmemd": said("cmemd 0.1.0 (go)"), "more/cmemd": said("cmemd dev (go)")}, "",
			map[string]checkState{"path/cmemd is of version 0.1.0": stateNote, "more/cmemd is of version dev": stateNote},
		},
		"an older copy in the home":   {map[string]string{"own/cmemd-hook": said("cmemd-hook 0.2.0"), "home/bin/cmemd": said("cmemd 0.1.0 (go)")}, "", map[string]checkState{"home/bin/cmemd is of version 0.1.0": stateNote}},
		"an older one of hooks":       {map[string]string{"own/cmemd-hook": said("cmemd-hook 0.2.0"), "opt/cmemd": said("cmemd 0.1.0 (go)")}, "opt/cmemd", map[string]checkState{"opt/cmemd is of version 0.1.0": stateNote}},
		"hooks start one that's gone": {map[string]string{"own/cmemd-hook": said("cmemd-hook 0.2.0")}, "opt/cmemd", nil}, // what agents are to run is said of each agent
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{"own/cmemd": said("cmemd 0.2.0 (go)"), "path/x": "", "more/x": "", "home/x": ""}
			for path, text := range c.files {
				files[path] = text
			}
			for path, text := range files {
				path = filepath.Join(dir, path)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
					t.Fatal(err)
				}
			}
			path := strings.Join([]string{filepath.Join(dir, "path"), filepath.Join(dir, "own"), filepath.Join(dir, "more"), "relative"}, ":")
			t.Setenv("PATH", path)
			if c.recorded != "" {
				if err := (relay.Programs{Path: "/bin", Cmemd: filepath.Join(dir, c.recorded)}).Write(filepath.Join(dir, "home")); err != nil {
					t.Fatal(err)
				}
			}
			a, _, _ := clitest.App()
			a.Version, a.Getenv = "0.2.0", os.Getenv
			x := &examination{app: a, paths: homedir.PathsOf(filepath.Join(dir, "home")), now: time.Now()}
			self := filepath.Join(dir, "own", "cmemd")
			got := append(x.checkHookProgram(t.Context(), self), x.checkCopies(t.Context(), self)...)
			if len(got) != len(c.want) {
				t.Errorf("got %+v, want %d", got, len(c.want))
			}
			for says, state := range c.want {
				found := false
				for _, one := range got {
					found = found || one.State == state && strings.Contains(one.Detail, says) && one.Mend != ""
				}
				if !found {
					t.Errorf("no %s %q in %+v", state, says, got)
				}
			}
		})
	}
}
