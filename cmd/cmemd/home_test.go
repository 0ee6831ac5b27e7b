package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
)

// homeWith makes a home with a file of settings.
func homeWith(t *testing.T, settings string) string {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, config.FileName), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}
