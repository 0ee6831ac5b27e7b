package terminal

import (
	"os"
	"path/filepath"
	"testing"
)

// TestProjectFlag tells folders, which may be written from here, from names.
func TestProjectFlag(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "shop", "cart"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"": "", "shop": "shop", ".": here, "./shop": filepath.Join(here, "shop"), "shop/cart": filepath.Join(here, "shop", "cart"),
		"..": filepath.Dir(here), "team/shop": "team/shop", "/nowhere/shop": "/nowhere/shop", dir: dir, "name:x": "name:x",
	} {
		var p projectValue
		if err := p.Set(text); err != nil || string(p) != want {
			t.Errorf("%q: got %q, %v, want %q", text, p, err, want)
		}
	}
}
