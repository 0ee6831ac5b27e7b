package observer

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed modes/*.toml
var modeFiles embed.FS

// ErrNoMode is the error of LoadMode for a name that no mode has.
var ErrNoMode = errors.New("observer: no such mode")

const (
	modeExt = ".toml"

	// maxModeFile is the longest mode file in bytes: what it says goes out with every prompt.
	maxModeFile = 64 << 10

	// maxParents is how long a chain of modes may be: a language of a tone of a mode is three.
	maxParents = 8
)

// LoadMode reads the mode called name from NAME.toml in dir, or else from those that are built in. A mode that extends
// another one has all that the other has but for the keys that it gives itself, which replace the other's whole; one
// that extends a mode of its own name means the built-in one. A nil dir holds nothing. An unknown name is an ErrNoMode
// that lists those there are; whatever is wrong in a file is told with file, line, key and what may stand there.
func LoadMode(dir fs.FS, name string) (Mode, error) {
	draft, err := modeLoader{dir}.load(name, 0)
	if err != nil {
		return Mode{}, err
	}
	if err := draft.check(); err != nil {
		return Mode{}, err
	}
	return draft.mode(name), nil
}

// Modes lists the names that LoadMode knows, sorted. A nil dir holds nothing; one that does not exist is no error.
func Modes(dir fs.FS) ([]string, error) {
	names, err := modeNames(modeFiles, "modes")
	if err != nil || dir == nil {
		return names, err
	}
	own, err := modeNames(dir, ".")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("observer: list modes: %w", err)
	}
	names = append(names, own...)
	slices.Sort(names)
	return slices.Compact(names), nil
}

func modeNames(from fs.FS, dir string) (names []string, err error) {
	entries, err := fs.ReadDir(from, dir)
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), modeExt); ok && isModeName(name) && !e.IsDir() {
			names = append(names, name)
		}
	}
	return names, err
}

// isModeName is for lowercase words, digits among them, joined by single dashes.
func isModeName(s string) bool {
	return len(s) <= maxTypeGiven && isTermID(s) && !strings.Contains(s, "_")
}

// modeLoader finds modes in a folder, and behind it those that are built in.
type modeLoader struct{ dir fs.FS }

// load reads a mode with what it extends. depth is how many extend it.
func (l modeLoader) load(name string, depth int) (modeDraft, error) {
	if !isModeName(name) {
		return modeDraft{}, fmt.Errorf("%w as %q: a name is lowercase words joined by dashes", ErrNoMode, name)
	}
	data, err := l.read(name)
	if err != nil {
		return modeDraft{}, err
	}
	draft, err := readMode(name+modeExt, data)
	if err != nil || draft.file.Extends == "" {
		return draft, err
	}
	parent := draft.file.Extends
	if depth++; depth == maxParents {
		return modeDraft{}, draft.problem("extends", "the chain is longer than %d modes, or a circle", maxParents)
	}
	if parent == name {
		l.dir = nil
	}
	base, err := l.load(parent, depth)
	if errors.Is(err, ErrNoMode) {
		return modeDraft{}, draft.problem("extends", "%v", err)
	}
	if err != nil {
		return modeDraft{}, err
	}
	return draft.over(base), nil
}

func (l modeLoader) read(name string) ([]byte, error) {
	for _, from := range []struct {
		dir  fs.FS
		path string
	}{{l.dir, name + modeExt}, {modeFiles, "modes/" + name + modeExt}} {
		if from.dir == nil {
			continue
		}
		data, err := fs.ReadFile(from.dir, from.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("observer: read mode %s: %w", name, err)
		}
		if len(data) > maxModeFile {
			return nil, fmt.Errorf("observer: mode %s%s has %d bytes: at most %d", name, modeExt, len(data), maxModeFile)
		}
		return data, nil
	}
	there, err := Modes(l.dir)
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w as %q: there are %s", ErrNoMode, name, strings.Join(there, ", "))
}
