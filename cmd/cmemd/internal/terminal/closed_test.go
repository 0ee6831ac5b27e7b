//go:build unix

package terminal

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cmemd/cmemd/testkit/wait"
)

// TestUntilClosed: the end of who reads a pipe is noticed without a write, and a pipe that is full, or a file, has somebody who reads.
func TestUntilClosed(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ofPipe, stop := UntilClosed(t.Context(), write)
	defer stop()
	ofFile, stop := UntilClosed(t.Context(), file)
	defer stop()
	_ = write.SetWriteDeadline(time.Now().Add(closedEvery))
	for err = nil; err == nil; {
		_, err = write.Write(make([]byte, 4096))
	}
	time.Sleep(2 * closedEvery) // two looks
	if ofPipe.Err() != nil || ofFile.Err() != nil || isUnread(write) {
		t.Error("it ended while somebody reads")
	}
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "it ends with who reads", func() bool { return ofPipe.Err() == context.Canceled })
	if ofFile.Err() != nil {
		t.Error("that of a file ended")
	}
}
