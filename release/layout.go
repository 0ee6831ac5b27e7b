package main

import (
	"cmp"
	"debug/buildinfo"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// A file is one of a package: where its content is, and its name there, with slashes.
type file struct {
	name, source string
	program      bool
}

// A layout is what every package of a product for one target holds. Names of its files are those in an archive; the folders are
// bin for programs, man/man1, completions, and none for documents.
type layout struct {
	product product
	target  target
	files   []file
	modules []debug.Module // what its programs are linked from, by path
}

// under are the files of one folder.
func (l layout) under(folder string) (some []file) {
	for _, f := range l.files {
		if path.Dir(f.name) == folder {
			some = append(some, f)
		}
	}
	return some
}

// common makes the files that are the same for all targets, by the programs of native, on which this runs.
func (r *release) common(native target) ([]file, error) {
	cmemd := filepath.Join(r.bin(native), "cmemd"+native.exe())
	man, completions := filepath.Join(r.stage, "man"), filepath.Join(r.stage, "completions")
	if err := os.Mkdir(completions, 0o755); err != nil {
		return nil, err
	}
	if _, err := r.ask(cmemd, "man", man); err != nil {
		return nil, err
	}
	for shell, name := range map[string]string{"bash": "cmemd.bash", "zsh": "_cmemd", "fish": "cmemd.fish"} {
		script, err := r.ask(cmemd, "completion", shell)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(completions, name), []byte(script+"\n"), 0o644); err != nil {
			return nil, err
		}
	}
	var files []file
	for _, document := range []string{"CHANGELOG.md", "LICENSE", "README.md"} {
		files = append(files, file{name: document, source: filepath.Join(r.root, document)})
	}
	for folder, source := range map[string]string{"man/man1": man, "completions": completions} {
		entries, err := os.ReadDir(source)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			files = append(files, file{name: folder + "/" + e.Name(), source: filepath.Join(source, e.Name())})
		}
	}
	return files, nil
}

// ask runs a program that was built, without this machine's settings, home or time zone.
func (r *release) ask(program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Env = []string{"HOME=" + r.stage, "USERPROFILE=" + r.stage, "TZ=UTC", "SystemRoot=" + os.Getenv("SystemRoot")}
	return output(cmd)
}

// lay puts together what the packages of a product for a target hold, sorted by name. Manual pages, completions and documents are cmemd's;
// the licence is all of them's.
func (r *release) lay(p product, t target, common []file) (layout, error) {
	l := layout{product: p, target: t, files: slices.Clone(common)}
	if p.name != "cmemd" {
		l.files = slices.DeleteFunc(l.files, func(f file) bool { return f.name != "LICENSE" })
	}
	for _, p := range p.programs {
		path := filepath.Join(r.bin(t), p+t.exe())
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return l, err
		}
		for _, m := range info.Deps {
			if m.Path != ours && m.Replace == nil { // else it is of the same commit, as a folder of another module's build
				l.modules = append(l.modules, *m)
			}
		}
		l.files = append(l.files, file{name: "bin/" + p + t.exe(), source: path, program: true})
	}
	byPath := func(a, b debug.Module) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Version, b.Version))
	}
	slices.SortFunc(l.modules, byPath)
	l.modules = slices.CompactFunc(l.modules, func(a, b debug.Module) bool { return byPath(a, b) == 0 })
	licences, err := r.licences(l)
	l.files = append(l.files, file{name: "THIRD-PARTY-LICENSES.txt", source: licences})
	slices.SortFunc(l.files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return l, err
}
