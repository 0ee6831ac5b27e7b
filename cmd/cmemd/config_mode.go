package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cmemd/cmemd/internal/observer"
)

// loadMode reads the mode that is set. One that there is not is an error with the name that is most like it.
func (l *loaded) loadMode() (observer.Mode, error) {
	if l.home == "" {
		return observer.LoadMode(nil, l.Mode)
	}
	dir := os.DirFS(l.modesDir())
	mode, err := observer.LoadMode(dir, l.Mode)
	if errors.Is(err, observer.ErrNoMode) {
		return mode, noMode(l.Mode, modeNames(l.modesDir()))
	}
	if err != nil {
		return mode, fmt.Errorf("mode = %q: %w", l.Mode, err)
	}
	return mode, nil
}

// modeNames lists the modes that there are with those in the folder dir.
func modeNames(dir string) []string {
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

// errNoPlayback is a choice of the provider playback without a word of what it shall play.
var errNoPlayback = errors.New("needs playback_file, the absolute path of what it plays")

// checkTogether reports settings that are good one by one and not together.
func (l *loaded) checkTogether() error {
	_, err := l.loadMode()
	return errors.Join(l.checkChoice(), l.checkKeys(), l.checkEmbeddings(), err)
}
