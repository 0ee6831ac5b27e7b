package providers

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/scenarios"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/playback"
	"github.com/cmemd/cmemd/internal/replay"
)

// newPlayback makes the provider that plays what is set. It is read here, once.
func newPlayback(l *config.Loaded) (observer.Provider, error) {
	script, err := readPlayback(l.PlaybackFile)
	if err != nil {
		return nil, terminal.Advise(fmt.Errorf("playback_file %s: %w", l.PlaybackFile, err), "correct it; `cmemd help playback` shows the form of a script")
	}
	return playback.New(script), nil
}

// readPlayback reads a script, or makes one of a scenario.
func readPlayback(path string) (*playback.Script, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if filepath.Ext(path) != ".json" {
		return playback.Read(file)
	}
	scenario, err := replay.ReadScenario(file)
	if err != nil {
		return nil, err
	}
	return scenarios.Script(scenario)
}
