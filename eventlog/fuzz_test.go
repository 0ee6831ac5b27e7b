package eventlog_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// FuzzImport imports anything: it ends with an error or a log that verifies, and what was imported is exported again
// and imported to the same. ReadExport yields as many records, and fails where Import does.
func FuzzImport(f *testing.F) {
	l := logtest.Open(f, eventlog.Config{})
	mustAppend(f, l, logtest.Session("a"), 0, "1", strings.Repeat("long ", 300))
	mustAppend(f, l, events.Daemon, 0, "2")
	if err := l.Erase(f.Context(), 1); err != nil {
		f.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := eventlog.Export(f.Context(), l, &out, 1); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes())
	f.Add(out.Bytes()[:out.Len()/2])
	f.Add([]byte(`{"cmemd_log":1}` + "\n" + `{"record":"AQA="}` + "\n" + `{"records":0}`))
	f.Fuzz(func(t *testing.T, export []byte) {
		to := logtest.Open(t, eventlog.Config{})
		n, err := eventlog.Import(t.Context(), to, bytes.NewReader(export))
		mustVerify(t, to)
		if last, _ := to.Last(t.Context()); uint64(last) != n {
			t.Fatalf("imported %d, the log ends at %d (%v)", n, last, err)
		}
		read, readErr := read(t.Context(), bytes.NewReader(export))
		if uint64(len(read)) != n || (err == nil) != (readErr == nil) {
			t.Fatalf("ReadExport: %d records and %v; Import: %d and %v", len(read), readErr, n, err)
		}
		var again bytes.Buffer
		if _, err := eventlog.Export(t.Context(), to, &again, 1); err != nil {
			t.Fatalf("Export: %v", err)
		}
		if m, err := eventlog.Import(t.Context(), logtest.Open(t, eventlog.Config{}), &again); m != n || err != nil {
			t.Fatalf("imported %d of %d again: %v", m, n, err)
		}
	})
}
