package share

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cmemd/cmemd/events"
)

// FuzzState: whatever stands in a file of the share, it is refused as damaged or newer, or what was read of it can be added to.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"format":1,"logs":null,"notes":null}`))
	f.Add([]byte(`{"format":1,"logs":{"00000000000000000000000000000001":{"last":3}},"notes":{"00000000-0000-0000-0000-000000000001":{"body":"AA=="}}}`))
	f.Add([]byte(`{"format":2}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, file []byte) {
		dir := t.TempDir()
		for _, name := range []string{notesFile, feedsFile, identityFile} {
			if err := os.WriteFile(filepath.Join(dir, name), file, stateMode); err != nil {
				t.Fatal(err)
			}
		}
		for _, as := range []events.LogID{{}, {1}} {
			if n, err := loadNotes(dir, as, as); err == nil {
				n[noteID{1}] = noteState{}
			}
		}
		all, err := loadFeeds(dir)
		if err == nil {
			all[events.LogID{1}] = feed{}
		} else if !errors.Is(err, ErrState) {
			t.Errorf("feeds: %v", err)
		}
		if _, err := loadIdentity(dir); err != nil && !errors.Is(err, ErrState) {
			t.Errorf("identity: %v", err)
		}
	})
}
