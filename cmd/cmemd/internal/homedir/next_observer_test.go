package homedir

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNextObserver: a choice is read as it was written, and who waits for it is told from the process.
func TestNextObserver(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "next-observer.json")
	if n, err := ReadNextObserver(path); err != nil || n.Provider != "" || n.Lives() {
		t.Errorf("of none: %+v, %v", n, err)
	}
	mine := NextObserver{Provider: "anthropic", Model: "m"}.WithProcess(os.Getpid())
	if err := mine.Write(path); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadNextObserver(path); err != nil || got != mine || !got.Lives() {
		t.Errorf("of this process: %+v, %v", got, err)
	}
	if mine.StartTime = "another process of that number"; mine.Lives() {
		t.Error("a process that is gone waits")
	}
}
