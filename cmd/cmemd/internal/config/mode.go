package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cmemd/cmemd/internal/observer"
)

// LoadMode reads the mode that is set. One that there is not is an error with the name that is most like it.
func (l *Loaded) LoadMode() (observer.Mode, error) {
	if l.Home == "" {
		return observer.LoadMode(nil, l.Mode)
	}
	dir := os.DirFS(l.ModesDir())
	mode, err := observer.LoadMode(dir, l.Mode)
	if errors.Is(err, observer.ErrNoMode) {
		return mode, noMode(l.Mode, ModeNames(l.ModesDir()))
	}
	if err != nil {
		return mode, fmt.Errorf("mode = %q: %w", l.Mode, err)
	}
	return mode, nil
}

// ModeNames lists the modes that there are with those in the folder dir.
func ModeNames(dir string) []string {
	names, err := observer.Modes(os.DirFS(dir))
	if err != nil { // the folder cannot be read; those that are built in are there
		names, _ = observer.Modes(nil)
	}
	return names
}

func noMode(name string, names []string) error {
	if best := nearest(name, names); best != "" {
		return fmt.Errorf("mode = %q: there is no such mode: did you mean %s?", name, best)
	}
	return fmt.Errorf("mode = %q: there is no such mode: there are %s", name, strings.Join(names, ", "))
}

// ModesDir is where a home keeps modes of its own.
func (l *Loaded) ModesDir() string { return filepath.Join(l.Home, "modes") }
