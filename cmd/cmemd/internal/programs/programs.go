package programs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/durable"
)

// Hub is the program that keeps what machines share: a package of its own, for it has 17 MB that one machine of several needs.
const Hub = "cmemd-hub"

// names are the programs that belong together, in the order in which they are copied. A folder may lack all but the last one.
func names() []string { return []string{Hub, "cmemd-sqlite", "cmemd-hook", "cmemd"} }

// The ways by which a program came to a place where it does not stay.
const (
	WayNPM     = "npm"     // npx, or a package that is installed globally
	WayGo      = "go"      // go run
	WayArchive = "archive" // unpacked into the folder for temporary files
)

// ErrSource is wrapped in what ReadSource returns for a source.json that does not say where the programs came from.
var ErrSource = errors.New("source.json does not say where these programs came from")

// ErrNewer is wrapped in what Copy returns where the home has programs of a newer version.
var ErrNewer = errors.New("the programs that are kept are newer")

// sourceFormat is the format of source.json. A newer one is refused.
const sourceFormat = 1

// A Source says where the programs in a folder were copied from.
type Source struct {
	Format   int       `json:"format"`
	Way      string    `json:"way"`      // WayNPM, WayGo or WayArchive; empty: how it came to Path, where it stays, is to be found out there
	Version  string    `json:"version"`  // of cmemd
	Path     string    `json:"path"`     // the folder that they were copied from, which may be gone
	Programs []string  `json:"programs"` // their names without an extension
	At       time.Time `json:"at"`
}

// Dir is the folder of a home for the programs, whether or not it is there.
func Dir(home string) string { return filepath.Join(home, "bin") }

// Ext is ".exe" where the program at self has that extension, in whatever letters, and "" else: what follows a dot in any other name, as in
// cmemd-0.1.0, is a part of the name.
func Ext(self string) string {
	if strings.EqualFold(filepath.Ext(self), ".exe") {
		return ".exe"
	}
	return ""
}

// Path is where the program called name is, or would be, in a folder of programs; ext is what Ext returns.
func Path(dir, name, ext string) string { return filepath.Join(dir, name+ext) }

// goRun is the name of the folder in which the go command keeps a program that `go run` built.
var goRun = regexp.MustCompile(`^[0-9a-f]{64}-d$`)

// TransientWay reports that the program at path does not stay there, and by which way it came. A link stays, wherever it leads: who made it
// may let it lead elsewhere.
func TransientWay(path string) (way string, transient bool) {
	path = filepath.Clean(path)
	folders := strings.Split(filepath.ToSlash(filepath.Dir(path)), "/")
	goBuild := func(name string) bool { return strings.HasPrefix(name, "go-build") || goRun.MatchString(name) }
	switch {
	case slices.Contains(folders, "node_modules"):
		return WayNPM, true
	case slices.ContainsFunc(folders, goBuild):
		return WayGo, true
	case isBelow(path, os.TempDir()), isBelow(path, resolved(os.TempDir())):
		return WayArchive, true
	}
	return "", false
}

// Homebrew finds the formula of a program that lies in a Cellar of Homebrew's, whose paths hold the version, and the links to it that
// an upgrade keeps, the one for shells first. It does not look whether the links exist. For any other program ok is false.
func Homebrew(path string) (links []string, formula string, ok bool) {
	prefix, rest, _ := strings.Cut(filepath.ToSlash(path), "/Cellar/")
	formula, below, _ := strings.Cut(rest, "/")
	_, inside, ok := strings.Cut(below, "/")
	if !ok {
		return nil, "", false
	}
	prefix = filepath.FromSlash(prefix)
	return []string{filepath.Join(prefix, inside), filepath.Join(prefix, "opt", formula, inside)}, formula, true
}

// Stable is a name of the program at path that outlives an update of what it leads to: Homebrew's link to it, or that of any folder on the
// PATH where it stays; path itself where there is none.
func Stable(path string) string {
	names, _, _ := Homebrew(path)
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if name, err := exec.LookPath(filepath.Join(dir, "cmemd")); err == nil && filepath.IsAbs(name) {
			names = append(names, name)
		}
	}
	self, err := os.Stat(path)
	for _, name := range names {
		_, passing := TransientWay(name)
		if info, errName := os.Stat(name); err == nil && errName == nil && !passing && os.SameFile(self, info) {
			return name
		}
	}
	return path
}

func isBelow(path, dir string) bool {
	return strings.HasPrefix(path, filepath.Clean(dir)+string(filepath.Separator))
}

// resolved is path without links; path itself where that cannot be told.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// Copy puts the program at self, a cmemd of a version, and those of its folder that belong to it into the bin of a home, and says in
// source.json where they came from. What is there already is not written again, and of a self that lies there itself nothing is. On an
// error each program is whole, the old one or the new. Newer programs stay: the error wraps ErrNewer. One caller at a time may use a home.
func Copy(self, home, version string, now time.Time) (Source, error) {
	way, _ := TransientWay(self)
	to := Dir(home)
	s := Source{Format: sourceFormat, Way: way, Version: version, Path: filepath.Dir(resolved(self)), At: now.UTC()}
	if s.Path == resolved(to) {
		return ReadSource(to)
	}
	if newer := Newer(self, home, version); newer != "" {
		return s, fmt.Errorf("%w: %s has %s, and this is %s", ErrNewer, to, newer, version)
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return s, err
	}
	for _, p := range programsBeside(self, to) {
		if err := p.copy(); err != nil {
			return s, fmt.Errorf("copy %s to %s: %w", p.from, to, err)
		}
		s.Programs = append(s.Programs, p.name)
	}
	return s, s.write(to)
}

// Newer is the version of the cmemd that the bin of a home has, where that is newer than the version of the one at self; else empty, also
// where nobody can say which is the older.
func Newer(self, home, version string) string {
	all := programsBeside(self, Dir(home))
	kept, err := ReadSource(Dir(home))
	if _, gone := os.Stat(all[len(all)-1].to); gone != nil || err != nil {
		return ""
	}
	if order, ok := terminal.CompareVersions(kept.Version, version); !ok || order <= 0 {
		return ""
	}
	return kept.Version
}

// Differing lists the programs that Copy would write: the bin of the home has others, or none.
func Differing(self, home string) (names []string) {
	for _, p := range programsBeside(self, Dir(home)) {
		if same, err := sameContent(p.from, p.to); err != nil || !same {
			names = append(names, p.name)
		}
	}
	return names
}

// A program is one that is to be copied.
type program struct{ name, from, to string }

// programsBeside are the programs in the folder of self that belong together, and self, whatever it is called, the last of them.
func programsBeside(self, to string) (all []program) {
	self = resolved(self)
	ext := Ext(self)
	for _, name := range names() {
		p := program{name, Path(filepath.Dir(self), name, ext), Path(to, name, ext)}
		if name == "cmemd" {
			p.from = self
		} else if _, err := os.Stat(p.from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		all = append(all, p)
	}
	return all
}

// copy makes the program at to that at from, and one that the person may run.
func (p program) copy() error {
	same, err := sameContent(p.from, p.to)
	switch {
	case err != nil:
		return err
	case same:
		return os.Chmod(p.to, 0o700)
	}
	return durable.Copy(p.from, p.to, 0o700)
}

// sameContent reports whether two files hold the same. Errors are those of a, fs.ErrNotExist among them; one of b is no.
func sameContent(a, b string) (bool, error) {
	f, info, err := durable.OpenLinked(a)
	if err != nil {
		return false, err
	}
	defer f.Close()
	g, other, err := durable.OpenRegular(b)
	if err != nil {
		return false, nil
	}
	defer g.Close()
	if info.Size() != other.Size() {
		return false, nil
	}
	x, y := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, err := io.ReadFull(f, x)
		m, _ := io.ReadFull(g, y) // what is missing differs
		if !bytes.Equal(x[:n], y[:m]) {
			return false, nil
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// maxSourceJSON bounds source.json: it is some hundred bytes.
const maxSourceJSON = 64 << 10

// sourceFile is where a folder of programs says where they came from.
func sourceFile(dir string) string { return filepath.Join(dir, "source.json") }

// write writes s down, unless the same is there but for its time.
func (s Source) write(dir string) error {
	old, err := ReadSource(dir)
	if err == nil && old.Way == s.Way && old.Version == s.Version && old.Path == s.Path && slices.Equal(old.Programs, s.Programs) {
		return nil
	}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return durable.Replace(sourceFile(dir), append(b, '\n'), 0o600)
}

// ReadSource returns where the programs in a folder came from. It returns an error wrapping fs.ErrNotExist where nobody wrote that down,
// and one wrapping ErrSource where a newer version, or nobody, understands what is written.
func ReadSource(dir string) (s Source, err error) {
	b, err := durable.ReadBounded(sourceFile(dir), maxSourceJSON)
	if err != nil {
		return s, fmt.Errorf("%s: %w", sourceFile(dir), err)
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return Source{}, fmt.Errorf("%w: %w", ErrSource, err)
	}
	if s.Format != sourceFormat {
		return Source{}, fmt.Errorf("%w: it is of format %d", ErrSource, s.Format)
	}
	return s, nil
}
