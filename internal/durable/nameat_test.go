package durable_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
)

func TestNameAt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.db")
	at := time.Date(2026, 5, 6, 9, 8, 9, 0, time.FixedZone("", 2*3600))
	for _, want := range []string{".held-20260506T070809Z", ".held-20260506T070809Z-2", ".held-20260506T070809Z-3"} {
		got := durable.NameAt(path, ".held-", at)
		if got != path+want {
			t.Errorf("got %s, want %s", got, path+want)
		}
		if err := os.WriteFile(got, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
