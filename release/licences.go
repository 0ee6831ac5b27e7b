package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
)

// licenceFile is how modules call the files that must go with what is linked from them.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-._].*)?$`)

// licences writes the licences of all that is linked into a target's programs, and returns the file's path. A module without one is an
// error: what nobody licensed is not handed out.
func (r *release) licences(l layout) (string, error) {
	dirs, err := r.moduleDirs()
	if err != nil {
		return "", err
	}
	path := filepath.Join(r.stage, l.product.name+"-"+l.target.String()+"-licences.txt")
	out, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer out.Close()
	fmt.Fprintf(out, "The programs of %s %s are linked from the Go standard library and the modules below.\n", l.product.name, r.version)
	goroot, err := output(exec.Command("go", "env", "GOROOT"))
	if err != nil {
		return "", err
	}
	if err := writeLicences(out, "The Go standard library, "+runtime.Version(), goroot); err != nil {
		return "", err
	}
	for _, m := range l.modules {
		if err := writeLicences(out, m.Path+" "+m.Version, dirs[key(m)]); err != nil {
			return "", err
		}
	}
	return path, out.Close()
}

func key(m debug.Module) string { return m.Path + "@" + m.Version }

// writeLicences writes the licence files of the module in dir.
func writeLicences(out io.Writer, title, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("the licence of %s: %w", title, err)
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		found = true
		plain := strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
		fmt.Fprintf(out, "\n%s\n%s, %s\n\n%s\n", strings.Repeat("=", 80), title, e.Name(), plain)
	}
	if !found {
		return fmt.Errorf("%s has no file that says under which licence it is", title)
	}
	return nil
}

// moduleDirs says where the modules of the programs lie, by path@version.
func (r *release) moduleDirs() (map[string]string, error) {
	dirs := map[string]string{}
	for folder := range modules() {
		cmd := exec.Command("go", "list", "-m", "-json=Path,Version,Dir", "all")
		cmd.Dir = filepath.Join(r.root, folder)
		listed, err := output(cmd)
		if err != nil {
			return nil, err
		}
		for dec := json.NewDecoder(strings.NewReader(listed)); ; {
			var m struct{ Path, Version, Dir string }
			if err := dec.Decode(&m); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("go list: %w", err)
			}
			if m.Dir != "" { // one module's list names what only another one has fetched
				dirs[m.Path+"@"+m.Version] = m.Dir
			}
		}
	}
	return dirs, nil
}
