package relay

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/capture/privacy"
)

// TestForgetLooksIntoTmp: what is whole there would be rescued later, so that it goes whatever its age; of the rest only what
// a hook may still be writing stays.
func TestForgetLooksIntoTmp(t *testing.T) {
	t.Parallel()
	s := NewSpool(t.TempDir(), privacy.Keep)
	if err := s.makeFolders(); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	entry := func(body string) []byte {
		e := testEntry(body)
		return append(appendHeader(nil, e), e.Body...)
	}
	secret, other := entry(`{"a":"forget me"}`), entry(`{"a":"keep me"}`)
	for name, f := range map[string]struct {
		data []byte
		age  time.Duration
	}{
		"whole":     {secret, 0},
		"whole-old": {secret, time.Hour},
		"half":      {secret[:len(secret)-1], 0},
		"half-old":  {secret[:len(secret)-1], staleTmp},
		"other":     {other, time.Hour},
	} {
		path := filepath.Join(s.dir, "tmp", name)
		if err := os.WriteFile(path, f.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-f.age), now.Add(-f.age)); err != nil {
			t.Fatal(err)
		}
	}
	n, err := s.Forget(now, func(e Entry) bool { return bytes.Contains(e.Body, []byte("forget me")) })
	if n != 3 || err != nil {
		t.Errorf("Forget = %d, %v; want 3", n, err)
	}
	var left []string
	files, err := os.ReadDir(filepath.Join(s.dir, "tmp"))
	for _, f := range files {
		left = append(left, f.Name())
	}
	if want := []string{"half", "other"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left %v, %v; want %v", left, err, want)
	}
}
