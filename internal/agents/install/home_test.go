package install

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// world is a person's home with some agents' settings in it, and cmemd's own.
type world struct {
	t       *testing.T
	machine Machine
	options Options
	store   Store
	ran     []string // by the client's commands
	fail    string   // what the command that holds this says
}

// claudeName is the agent whose client takes a plugin.
const claudeName = "claude-code"

func claude(t *testing.T) Agent {
	t.Helper()
	a, known := ByName(claudeName)
	if !known {
		t.Fatal("it is not known")
	}
	return a
}

func newWorld(t *testing.T) *world {
	t.Helper()
	person := t.TempDir()
	home := filepath.Join(t.TempDir(), "cmemd")
	w := &world{t: t, store: Store{Dir: filepath.Join(home, "install")}}
	w.machine = Machine{
		OS: "linux", Home: person, Getenv: func(string) string { return "" },
		LookPath: func(string) (string, error) { return "", errors.New("not there") },
	}
	w.options = Options{
		Program: Program{Hook: []string{"/opt/cmemd/cmemd-hook"}, Cmemd: "/opt/cmemd/cmemd"}, Version: "1.2.3", Home: home,
		Settings: true,
	}
	return w
}

func (w *world) path(name string) string {
	return filepath.Join(w.machine.Home, filepath.FromSlash(name))
}

// write puts a file into the person's home.
func (w *world) write(name, text string, mode fs.FileMode) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), mode); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Chmod(w.path(name), mode); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) text(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// snapshot is all that the person's home holds: each file with its mode and text, each link with its target.
func (w *world) snapshot() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(w.machine.Home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(w.machine.Home, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			all[name] = "folder"
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			all[name] = "-> " + to
			return err
		default:
			text, err := os.ReadFile(path)
			all[name] = info.Mode().String() + "\n" + string(text)
			return err
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// run notes a command, or fails as it is told.
func (w *world) run(_ context.Context, c Command) error {
	line := strings.Join(c.Args, " ")
	w.ran = append(w.ran, line)
	if w.fail != "" && strings.Contains(line, w.fail) {
		return errors.New("the client said no")
	}
	return nil
}

func (w *world) agent(name string) Agent {
	w.t.Helper()
	a, known := ByName(name)
	if !known {
		w.t.Fatalf("%s is not known", name)
	}
	return a
}

func (w *world) plan(name string) Plan {
	w.t.Helper()
	p, err := w.agent(name).Install(w.machine, w.options, w.store)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) planRemoval(name string) Plan {
	w.t.Helper()
	p, err := w.agent(name).Uninstall(w.machine, w.options, w.store)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) apply(p Plan) {
	w.t.Helper()
	if err := w.store.Apply(w.t.Context(), p, w.run, time.Unix(1, 0)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) install(name string)   { w.t.Helper(); w.apply(w.plan(name)) }
func (w *world) uninstall(name string) { w.t.Helper(); w.apply(w.planRemoval(name)) }

func (w *world) now() time.Time { return time.Unix(1, 0) }
