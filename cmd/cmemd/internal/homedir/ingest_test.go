package homedir

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestIngest: what was written down is read, by whom it is at work is told from the process, and what is half a file is an error.
func TestIngest(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ingest.json")
	if i, err := ReadIngest(path); err != nil || i.PID != 0 || i.Runs() || i.Interrupted() {
		t.Errorf("of none: %+v, %v", i, err)
	}
	began := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	mine := NewIngest(began, 3, 100)
	mine.Done, mine.DoneBytes = 1, 40
	if err := mine.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := ReadIngest(path)
	if err != nil || got != mine || !got.Runs() || got.Interrupted() {
		t.Errorf("of this process: %+v, %v", got, err)
	}
	ended := mine
	ended.Ended = began.Add(time.Minute)
	if ended.Runs() || ended.Interrupted() {
		t.Errorf("one that ended runs: %v, was interrupted: %v", ended.Runs(), ended.Interrupted())
	}
	gone := mine
	gone.StartTime = "another process of that number"
	if gone.Runs() || !gone.Interrupted() {
		t.Errorf("of a process that is gone: runs %v, interrupted %v", gone.Runs(), gone.Interrupted())
	}
	for text, ok := range map[string]bool{"": true, `{"pid":`: false} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if i, err := ReadIngest(path); (err == nil) != ok || i.PID != 0 {
			t.Errorf("%q: %+v, %v", text, i, err)
		}
	}
}
