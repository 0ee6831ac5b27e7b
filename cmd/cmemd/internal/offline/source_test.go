package offline

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// A cutExport fails after a part of what it writes.
type cutExport struct {
	Source
	part string
	err  error
}

// Export implements Source.
func (c cutExport) Export(_ context.Context, w io.Writer, _ events.Position) error {
	if _, err := io.WriteString(w, c.part); err != nil {
		return err
	}
	return c.err
}

// TestExportedEndsWithTheExport: a daemon that stops in the middle is an error that says so, and leaving early leaves
// nothing running, which the return of the sequence waits for.
func TestExportedEndsWithTheExport(t *testing.T) {
	t.Parallel()
	stopped := errors.New("the daemon stopped")
	var last error
	for _, err := range exported(t.Context(), cutExport{part: "{\"cmemd_log\":1}\n", err: stopped}) {
		last = err
	}
	if !errors.Is(last, stopped) {
		t.Errorf("the error is %v, want %v", last, stopped)
	}
	last = nil
	for _, err := range exported(t.Context(), cutExport{part: "{\"cmemd_log\":1}\n"}) {
		last = err
	}
	if !errors.Is(last, eventlog.ErrTruncated) {
		t.Errorf("the error is %v, want %v", last, eventlog.ErrTruncated)
	}
	file := opened(t)
	seen := 0
	for _, err := range exported(t.Context(), file) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen == 2 {
			break
		}
	}
	if seen != 2 {
		t.Errorf("%d records, want 2", seen)
	}
}
