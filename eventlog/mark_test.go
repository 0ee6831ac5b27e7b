package eventlog_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// TestMark: a log lacks what its mark names once an older one, a new one or a salvaged one is in its place, and at no other time.
func TestMark(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := openLog(t, filepath.Join(dir, "log"))
	stream := logtest.Session("a")
	if m, err := eventlog.MarkOf(t.Context(), log); err != nil || m != (eventlog.Mark{}) {
		t.Errorf("of an empty log: %+v, %v", m, err)
	}
	early := mustAppend(t, log, stream, 0, "1", "2")
	backup := filepath.Join(dir, "backup")
	if err := log.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Millisecond)
	mustAppend(t, log, stream, 2, "3")
	mark, err := eventlog.MarkOf(t.Context(), log)
	if err != nil || mark.Position != 3 {
		t.Fatalf("%+v, %v", mark, err)
	}
	time.Sleep(10 * time.Millisecond)
	lacking := func(name string, log *eventlog.Bolt, want time.Time) {
		t.Helper()
		if got, err := mark.LackingSince(t.Context(), log); err != nil || !got.Equal(want) {
			t.Errorf("%s: lacking since %s, %v; want %s", name, got, err, want)
		}
	}
	lacking("the same log", log, time.Time{})
	mustAppend(t, log, stream, 3, "4")
	if err := log.Erase(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	lacking("the same log, longer, without the words", log, time.Time{})

	older := openLog(t, backup)
	lacking("an older one", older, early[1].RecordedAt)
	mustAppend(t, older, stream, 2, "another 3", "another 4")
	lacking("an older one that went on", older, early[1].RecordedAt)
	anew := openLog(t, filepath.Join(dir, "anew"))
	lacking("an empty one", anew, mark.At)
	mustAppend(t, anew, stream, 0, "1", "2", "3")
	lacking("one that was begun anew", anew, mark.At)

	sign := func(s events.LogSalvaged) {
		t.Helper()
		if _, err := eventlog.AppendEnd(t.Context(), log, events.Daemon, events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: time.Now(), Event: s}); err != nil {
			t.Fatal(err)
		}
	}
	sign(events.LogSalvaged{Unread: 1})
	lacking("a salvaged one that lost nothing", log, time.Time{})
	sign(events.LogSalvaged{Lost: 1, LostAt: []events.Span{{From: 3, To: 3}}})
	lacking("a salvaged one", log, early[1].RecordedAt)
	mark, err = eventlog.MarkOf(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	lacking("one that was salvaged before", log, time.Time{})
}
