package eventlog_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/crash"
	"github.com/cmemd/cmemd/testkit/logtest"
)

func TestMain(m *testing.M) {
	roles := systemRoles()
	roles["append"], roles["hold"] = appendUntilKilled, holdLog
	os.Exit(crash.Main(m, roles))
}

func openLog(tb testing.TB, path string) *eventlog.Bolt {
	tb.Helper()
	l, err := eventlog.Open(path, eventlog.Config{})
	if err != nil {
		tb.Fatalf("Open: %v", err)
	}
	tb.Cleanup(func() { l.Close() })
	return l
}

func tempLog(tb testing.TB) *eventlog.Bolt {
	tb.Helper()
	return openLog(tb, filepath.Join(tb.TempDir(), "log"))
}

func mustAppend(tb testing.TB, l eventlog.Log, stream events.StreamID, at events.Version, texts ...string) []events.Record {
	tb.Helper()
	drafts := make([]events.Draft, len(texts))
	for i, s := range texts {
		drafts[i] = logtest.Draft(s)
	}
	records, err := l.Append(tb.Context(), stream, at, drafts...)
	if err != nil {
		tb.Fatalf("Append to %s at %d: %v", stream, at, err)
	}
	return records
}

func mustClose(tb testing.TB, l eventlog.Log) {
	tb.Helper()
	if err := l.Close(); err != nil {
		tb.Fatalf("Close: %v", err)
	}
}

func mustVerify(tb testing.TB, l eventlog.Log) {
	tb.Helper()
	if err := eventlog.Verify(tb.Context(), l, nil); err != nil {
		tb.Fatalf("Verify: %v", err)
	}
}

// textOf is what the event of a record made by logtest.Draft carries; "" if it is erased.
func textOf(tb testing.TB, r events.Record) string {
	tb.Helper()
	if r.Erased {
		return ""
	}
	e, err := r.Event()
	if err != nil {
		tb.Fatalf("event at %d: %v", r.Position, err)
	}
	return e.(events.PromptSubmitted).Text
}

// contents is the text of every record, in order.
func contents(tb testing.TB, l eventlog.Log) []string {
	tb.Helper()
	var all []string
	for r, err := range l.All(tb.Context(), 1) {
		if err != nil {
			tb.Fatalf("All: %v", err)
		}
		all = append(all, textOf(tb, r))
	}
	return all
}

func truncate(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}
